-- The view that the queries read, over Parquet:
--   timermeter table RUN -o clocks.parquet
--   cat parquet.sql clock-source.sql | duckdb
-- A report without the name of a node (`probe --node`) goes by its file. A CPU model is the brand with family, model and architecture.
CREATE VIEW clocks AS SELECT * REPLACE (
    coalesce(node, file) AS node,
    concat_ws(' ', cpu, 'family ' || cpu_family, 'model ' || cpu_model, architecture) AS cpu
) FROM read_parquet('clocks.parquet');
