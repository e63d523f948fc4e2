-- The view that the queries read, over Parquet:
--   timermeter table RUN -o clocks.parquet
--   cat parquet.sql clock-source.sql | duckdb
-- A report without the name of a node (`probe --node`) goes by its file.
CREATE VIEW clocks AS SELECT * REPLACE (coalesce(node, file) AS node) FROM read_parquet('clocks.parquet');
