package metrics

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// What follows is an ExportMetricsServiceRequest in OTLP's JSON, in which whole numbers of 64 bits are strings.
type (
	otlpRequest struct {
		Resources []otlpResource `json:"resourceMetrics"`
	}
	otlpResource struct {
		Resource struct {
			Attributes []otlpAttribute `json:"attributes"`
		} `json:"resource"`
		Scopes []otlpScope `json:"scopeMetrics"`
	}
	otlpScope struct {
		Scope struct {
			Name    string `json:"name"`
			Version string `json:"version,omitempty"`
		} `json:"scope"`
		Metrics []otlpMetric `json:"metrics"`
	}
	otlpMetric struct {
		Name  string `json:"name"`
		Doc   string `json:"description,omitempty"`
		Unit  string `json:"unit,omitempty"`
		Gauge struct {
			Points []otlpPoint `json:"dataPoints"`
		} `json:"gauge"`
	}
	otlpPoint struct {
		Attributes []otlpAttribute `json:"attributes"`
		At         string          `json:"timeUnixNano"`
		Whole      string          `json:"asInt,omitempty"`
		Value      *float64        `json:"asDouble,omitempty"`
	}
	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		Text string `json:"stringValue"`
	}
)

// writeOTLP writes the metrics for OpenTelemetry. Names are those of OpenMetrics, which collectors keep as they are.
func writeOTLP(w io.Writer, list []Metric, run Run) error {
	r := otlpResource{Scopes: make([]otlpScope, 1)}
	r.Resource.Attributes = attributes([][2]string{{"service.name", "prof"}, {"prof.run.id", run.ID}})
	scope := &r.Scopes[0]
	scope.Scope.Name, scope.Scope.Version = "prof", run.Version
	at := strconv.FormatInt(run.At.UnixNano(), 10)
	for _, m := range list {
		x := otlpMetric{Name: m.fullName(), Doc: m.Doc, Unit: m.Unit.UCUM}
		for _, p := range m.Points {
			point := otlpPoint{Attributes: attributes(p.Labels), At: at}
			if p.Whole {
				point.Whole = strconv.FormatInt(int64(p.Value), 10)
			} else {
				point.Value = &p.Value
			}
			x.Gauge.Points = append(x.Gauge.Points, point)
		}
		scope.Metrics = append(scope.Metrics, x)
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(otlpRequest{Resources: []otlpResource{r}})
}

func attributes(list [][2]string) []otlpAttribute {
	out := make([]otlpAttribute, len(list))
	for i, l := range list {
		out[i] = otlpAttribute{Key: l[0], Value: otlpValue{Text: strings.ToValidUTF8(l[1], "\uFFFD")}}
	}
	return out
}
