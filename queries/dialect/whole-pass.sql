SELECT
        s.run_id,
        s.stage,
        max(CASE WHEN s.place = 1 THEN s.range_id END) AS range_id,
        max(CASE WHEN s.place = 1 THEN s.source_id END) AS source_id,
        CAST(sum(s.device_count) AS BIGINT) AS device_count,
        CASE WHEN count(s.cpu_ns) = count(*) THEN max(s.cpu_ns) END AS cpu_ns,
        min(s.lost_count) AS lost_count,
        max(s.gpu_span_ns) AS gpu_span_ns,
        CASE WHEN max(s.lost_count) = 0 THEN CAST(sum(s.gpu_busy_ns) AS BIGINT) END AS gpu_busy_ns,
        CASE WHEN max(s.lost_count) = 0 THEN CAST(sum(s.gpu_sum_ns) AS BIGINT) END AS gpu_sum_ns,
        CASE WHEN max(s.lost_count) = 0 THEN CAST(sum(s.kernel_sum_ns) AS BIGINT) END AS kernel_sum_ns,
        CASE
            WHEN max(s.lost_count) = 0 AND sum(s.graph_count) = 0 THEN CAST(sum(s.kernel_count) AS BIGINT)
        END AS kernel_count,
        CASE WHEN max(s.lost_count) = 0 THEN CAST(sum(s.memop_count) AS BIGINT) END AS memop_count,
        CASE WHEN max(s.lost_count) = 0 THEN CAST(sum(s.graph_count) AS BIGINT) END AS graph_count,
        max(CASE WHEN s.place = 1 THEN s.prompt_token_count END) AS prompt_token_count,
        max(CASE WHEN s.place = 1 THEN s.decode_token_count END) AS decode_token_count,
        max(CASE WHEN s.place = 1 THEN s.sequence_count END) AS sequence_count
    FROM (
        SELECT
            s.run_id,
            s.stage,
            s.repeat_id,
            s.pass_id,
            s.range_id,
            s.source_id,
            s.device_count,
            s.cpu_ns,
            s.lost_count,
            s.gpu_span_ns,
            s.gpu_busy_ns,
            s.gpu_sum_ns,
            s.kernel_sum_ns,
            s.kernel_count,
            s.memop_count,
            s.graph_count,
            s.prompt_token_count,
            s.decode_token_count,
            s.sequence_count,
            row_number() OVER (
                PARTITION BY s.run_id, s.stage, s.repeat_id, s.pass_id
                ORDER BY s.gpu_span_ns DESC NULLS LAST, s.cpu_ns DESC NULLS LAST, s.range_id
            ) AS place
        FROM stage_pass s
        WHERE s.is_counted AND NOT s.is_warmup
    ) s
    GROUP BY s.run_id, s.stage, s.repeat_id, s.pass_id
