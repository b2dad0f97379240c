package nsys

import (
	"context"
	"fmt"

	"prof/ingest/nsys/table"
	"prof/ingest/rows"
)

// storeDevices stores the GPUs and learns how each process numbers them.
func (l *loader) storeDevices(ctx context.Context) error {
	if err := l.readDeviceNumbers(ctx); err != nil {
		return err
	}
	name := l.table("TARGET_INFO_GPU")
	if name == "" {
		name = l.table("TARGET_INFO_CUDA_GPU")
	}
	if name == "" {
		return nil
	}
	wants := want("id name?:text uuid?:text busLocation?:text chipName?:text computeMajor? computeMinor? smCount? clockRate? " +
		"totalMemory? memoryBandwidth? l2CacheSize? maxWarpsPerSm? maxShmemPerSm?")
	seen := map[int32]string{unknownDevice: ""} // UUIDs; each process of a recording may list all
	_, err := l.target.Append(ctx, "device", func(add rows.Add) error {
		return eachBatch(ctx, l.export, name, wants, func(b *table.Batch) error {
			for i := range b.N {
				id := l.numbered(b.Cols[0].Ints[i])
				uuid, _ := optText(&b.Cols[2], i).(string)
				if had, ok := seen[id]; ok {
					if id != unknownDevice && uuid != had && uuid != "" && had != "" {
						l.info.Warnings = append(l.info.Warnings, fmt.Sprintf("GPU %d is %s and %s: processes call different GPUs by one number, and their work adds up as that of one", id, had, uuid))
					}
					continue
				}
				seen[id] = uuid
				row := []any{l.target.RunID, l.sourceID(), id}
				for k := 1; k <= 4; k++ {
					row = append(row, optText(&b.Cols[k], i))
				}
				var capability any
				if !b.Cols[5].Null(i) && !b.Cols[6].Null(i) {
					capability = fmt.Sprintf("%d.%d", b.Cols[5].Ints[i], b.Cols[6].Ints[i])
				}
				row = append(row, capability)
				for k := 7; k < len(b.Cols); k++ {
					row = append(row, l.positive(&b.Cols[k], i))
				}
				if err := add(row...); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return err
}

// readDeviceNumbers reads which GPU a process means by a CUDA device number.
func (l *loader) readDeviceNumbers(ctx context.Context) error {
	name := l.table("TARGET_INFO_CUDA_DEVICE")
	if name == "" {
		return nil
	}
	return eachBatch(ctx, l.export, name, want("gpuId? cudaId pid"), func(b *table.Batch) error {
		for i := range b.N {
			if b.Cols[0].Null(i) {
				continue
			}
			gpu := l.numbered(b.Cols[0].Ints[i])
			pid, isProcess := l.odd.Int32("processes of CUDA devices", b.Cols[2].Ints[i], 0)
			if !isProcess {
				continue
			}
			key := deviceKey{pid, b.Cols[1].Ints[i]}
			if had, ok := l.deviceOf[key]; ok && had != gpu {
				l.info.Warnings = append(l.info.Warnings, fmt.Sprintf("process %d means GPU %d and GPU %d by its device %d, and the second counts: were two processes of that number recorded?", pid, had, gpu, key.cuda))
			}
			l.deviceOf[key] = gpu
		}
		return nil
	})
}

// positive returns a property of a device; the profiler writes 0 where it does not know.
func (l *loader) positive(v *table.Vector, i int) any {
	if v.Null(i) || v.Ints[i] <= 0 {
		return nil
	}
	if v.Ints[i] >= farthest {
		l.odd.Add("properties of GPUs", v.Ints[i])
		return nil
	}
	return v.Ints[i]
}

func optText(v *table.Vector, i int) any {
	if v.Null(i) || v.Texts[i] == "" {
		return nil
	}
	return v.Texts[i]
}

// storeProcesses stores the processes that the export names.
func (l *loader) storeProcesses(ctx context.Context) error {
	name := l.table("PROCESSES")
	if name == "" {
		return nil
	}
	seen := map[int32]bool{}
	_, err := l.target.Append(ctx, "process", func(add rows.Add) error {
		return eachBatch(ctx, l.export, name, want("globalPid? name?:text rank?"), func(b *table.Batch) error {
			for i := range b.N {
				pid := pidOf(b.Cols[0].Ints[i])
				if b.Cols[0].Null(i) || seen[pid] {
					continue
				}
				seen[pid] = true
				if err := add(l.target.RunID, l.sourceID(), pid, optText(&b.Cols[1], i), l.rankOf(&b.Cols[2], i)); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return err
}

// rankOf returns the rank of a process, which only traces of prof tell.
func (l *loader) rankOf(v *table.Vector, i int) any {
	if v.Null(i) {
		return nil
	}
	if n, ok := l.odd.Int32("ranks of processes", v.Ints[i], 0); ok {
		return n
	}
	return nil
}

// storeThreads stores the names of threads.
func (l *loader) storeThreads(ctx context.Context) error {
	name := l.table("ThreadNames")
	if name == "" {
		return nil
	}
	seen := map[int64]bool{}
	_, err := l.target.Append(ctx, "thread", func(add rows.Add) error {
		return eachBatch(ctx, l.export, name, want("nameId globalTid?"), func(b *table.Batch) error {
			for i := range b.N {
				tid := b.Cols[1].Ints[i]
				if b.Cols[1].Null(i) || seen[tid] {
					continue
				}
				seen[tid] = true
				text, err := l.strings.get(b.Cols[0].Ints[i])
				if err != nil {
					return err
				}
				if err := add(l.target.RunID, l.sourceID(), pidOf(tid), tidOf(tid), text); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return err
}

// storeStreams stores the CUDA streams.
func (l *loader) storeStreams(ctx context.Context) error {
	name := l.table("TARGET_INFO_CUDA_STREAM")
	if name == "" {
		return nil
	}
	_, err := l.target.Append(ctx, "stream", func(add rows.Add) error {
		return eachBatch(ctx, l.export, name, want("processId contextId streamId priority? flag?"), func(b *table.Batch) error {
			for i := range b.N {
				var flag any
				if !b.Cols[4].Null(i) {
					flag = l.enum("ENUM_CUPTI_STREAM_TYPE", &b.Cols[4], i)
				}
				pid, isPid := l.odd.Int32("processes of streams", b.Cols[0].Ints[i], 0)
				context, isContext := l.odd.Int32("contexts of streams", b.Cols[1].Ints[i], 0)
				stream, isStream := l.odd.Int32("numbers of streams", b.Cols[2].Ints[i], 0)
				if !isPid || !isContext || !isStream {
					continue
				}
				var priority any
				if p := b.Cols[3].Ints[i]; has32(p) && !b.Cols[3].Null(i) {
					priority = int32(p)
				} else if !b.Cols[3].Null(i) {
					l.odd.Add("priorities of streams", p)
				}
				if err := add(l.target.RunID, l.sourceID(), pid, context, stream, priority, flag); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return err
}

// builtinEnums are the values of enumerations that old exports lack tables for, from NVIDIA's exporter documentation.
var builtinEnums = map[string]map[int64]string{
	"ENUM_CUDA_MEMCPY_OPER": {0: "Unknown", 1: "Host-to-Device", 2: "Device-to-Host", 3: "Host-to-Array", 4: "Array-to-Host", 5: "Array-to-Array",
		6: "Array-to-Device", 7: "Device-to-Array", 8: "Device-to-Device", 9: "Host-to-Host", 10: "Peer-to-Peer",
		11: "Unified Host-to-Device", 12: "Unified Device-to-Host", 13: "Unified Device-to-Device"},
	"ENUM_CUDA_MEM_KIND":     {0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed", 5: "Device Static", 6: "Managed Static", 7: "Unknown"},
	eventClassEnum:           {}, // numbers differ between versions
	"ENUM_CUPTI_SYNC_TYPE":   {0: "Unknown", 1: "Event sync", 2: "Stream wait sync", 3: "Stream sync", 4: "Context sync"},
	"ENUM_CUPTI_STREAM_TYPE": {0: "Unknown stream type", 1: "Default stream", 2: "Non-blocking stream", 3: "Null stream"},
}

// enum returns the label of an enumerated value, "" for NULL.
func (l *loader) enum(name string, v *table.Vector, i int) string {
	if v.Null(i) {
		return ""
	}
	if label, ok := l.enums[name][v.Ints[i]]; ok {
		return label
	}
	return fmt.Sprintf("%d", v.Ints[i])
}

// labels returns enum as a function for tables of many rows, prefix put before each label; "" for NULL.
func (l *loader) labels(name, prefix string) func(v *table.Vector, i int) string {
	const small = 64 // all these enumerations are
	var known [small]string
	for k, label := range l.enums[name] {
		if k >= 0 && k < small {
			known[k] = prefix + label
		}
	}
	return func(v *table.Vector, i int) string {
		if v.Null(i) {
			return ""
		}
		if k := v.Ints[i]; k >= 0 && k < small && known[k] != "" {
			return known[k]
		}
		return prefix + l.enum(name, v, i)
	}
}

// readEnums reads the enumerations that rows refer to, over the built-in ones.
func (l *loader) readEnums(ctx context.Context) error {
	for name, labels := range builtinEnums {
		l.enums[name] = map[int64]string{}
		for k, v := range labels {
			l.enums[name][k] = v
		}
		if !l.export.Has(name) {
			continue
		}
		err := eachBatch(ctx, l.export, name, want("id label:text"), func(b *table.Batch) error {
			for i := range b.N {
				l.enums[name][b.Cols[0].Ints[i]] = b.Cols[1].Texts[i]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
