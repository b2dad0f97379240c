package perfetto

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of the fields that are written, by the messages of Perfetto's protos/perfetto/trace (trace.proto, trace_packet.proto, trace_packet_defaults.proto,
// clock_snapshot.proto, interned_data/interned_data.proto, profiling/profile_common.proto, track_event/*.proto) at version 0.59 of its Python package.
const (
	tracePacket = 1

	packetClockSnapshot   = 6
	packetTimestamp       = 8
	packetSequence        = 10
	packetTrackEvent      = 11
	packetInterned        = 12
	packetFlags           = 13
	packetDefaults        = 59
	packetTrackDescriptor = 60

	flagCleared = 1 // SEQ_INCREMENTAL_STATE_CLEARED
	flagNeeds   = 2 // SEQ_NEEDS_INCREMENTAL_STATE

	defaultsTrackEvent = 11

	snapshotClocks = 1
	clockID        = 1
	clockTimestamp = 2
	clockRealtime  = 1 // BUILTIN_CLOCK_REALTIME
	clockBoottime  = 6 // BUILTIN_CLOCK_BOOTTIME: that of packets which name none

	internedCategories       = 1
	internedNames            = 2
	internedAnnotationNames  = 3
	internedAnnotationValues = 29
	internedID               = 1
	internedText             = 2

	trackUUID         = 1
	trackName         = 2
	trackProcess      = 3
	trackThread       = 4
	trackParent       = 5
	trackCounter      = 8
	trackOrdering     = 11
	trackRank         = 12
	orderExplicit     = 3
	processPID        = 1
	processName       = 6
	threadPID         = 1
	threadTID         = 2
	threadName        = 5
	counterUnit       = 3
	counterUnitName   = 6
	counterUnitOfSize = 3 // UNIT_SIZE_BYTES

	eventCategory   = 3
	eventAnnotation = 4
	eventType       = 9
	eventName       = 10
	eventTrack      = 11
	eventNumber     = 44 // double_counter_value
	eventFlow       = 47
	eventFlowEnd    = 48 // terminating_flow_ids
	typeBegin       = 1
	typeEnd         = 2
	typeInstant     = 3
	typeCounter     = 4
	annotationName  = 1
	annotationInt   = 4
	annotationValue = 17 // string_value_iid
	annotationBool  = 2
)

func appendUint(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendFixed(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

func appendDouble(b []byte, field protowire.Number, v float64) []byte {
	return appendFixed(b, field, math.Float64bits(v))
}

func appendText(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func appendMessage(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}
