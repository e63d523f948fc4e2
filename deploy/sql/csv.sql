-- The table that the queries read, from CSV, which is read once:
--   timermeter table RUN --columns all -o clocks.csv
--   cat csv.sql fit.sql | duckdb      (pip install duckdb-cli)
-- A report without the name of a node (`probe --node`) goes by its file. A CPU model is the brand with family, model and architecture. The types
-- of what may be empty, or look like a number, are named; the others follow from the file.
CREATE TABLE clocks AS SELECT * REPLACE (
    coalesce(nullif(node, ''), file) AS node,
    concat_ws(' ', cpu, 'family ' || cpu_family, 'model ' || cpu_model, architecture) AS cpu
) FROM read_csv('clocks.csv', sample_size = -1, types = {
    'node': 'VARCHAR', 'seed': 'VARCHAR', 'cpu': 'VARCHAR', 'microcode': 'VARCHAR', 'hypervisor': 'VARCHAR', 'kernel': 'VARCHAR',
    'clock_source': 'VARCHAR', 'reason': 'VARCHAR', 'cost_ns': 'DOUBLE', 'quality': 'DOUBLE', 'trust': 'VARCHAR', 'fit': 'VARCHAR',
    'fit_reason': 'VARCHAR'
});
