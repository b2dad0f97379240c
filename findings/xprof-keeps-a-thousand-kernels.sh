#!/usr/bin/env bash
# XProf 2.22.3 cuts its kernel statistics at 1,000 rows: half of a decode step of 80 layers is in no figure, and no word says so.
#
# A row is a kernel by name, launch and operation, and XLA names fusions and operations anew for each layer that is written out: 80 layers of 25 kernels are
# 2,000 rows. The shortest are dropped before the table is made, also from the CSV, and not summed up in a last row. In decode all are about as short, so the
# sum of the column is half of the GPU's time, and shares by name are those of the layers that stayed: here the last 40 layers' kernels, which ran 1 ns
# longer, are all there is. The time of Tensor Cores by operation comes from the same list. Use the HLO statistics, which have all, or write layers as a loop
# (jax.lax.scan).
#
# Needs no GPU. Seen on 2026-11-30 with xprof 2.22.3, Python 3.11:
#   ran: 2000 kernels, 8001.0 us
#   kernel_stats: 1000 kernels, 4001.0 us; layers 40 to 79
#   framework_op_stats: 8001.0 us
