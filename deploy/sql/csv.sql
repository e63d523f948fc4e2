-- The view that the queries read, over CSV:
--   timermeter table RUN --columns all -o clocks.csv
--   cat csv.sql clock-source.sql | duckdb
-- A report without the name of a node (`probe --node`) goes by its file. The types of what may be empty, or look like a number, are named; the
-- others follow from the file.
CREATE VIEW clocks AS SELECT * REPLACE (coalesce(node, file) AS node) FROM read_csv('clocks.csv', sample_size = -1, types = {
    'node': 'VARCHAR', 'cpu': 'VARCHAR', 'kernel': 'VARCHAR', 'hypervisor': 'VARCHAR', 'clock_source': 'VARCHAR',
    'quality': 'DOUBLE', 'cost_ns': 'DOUBLE', 'trust': 'VARCHAR', 'reason': 'VARCHAR'
});
