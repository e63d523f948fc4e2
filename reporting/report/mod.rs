//! Reads and checks reports, and writes them in all formats. [`model`](estimators::model) defines the
//! report.

mod archive;
mod collection;
mod facts;
pub mod machine;
mod notes;
mod output;
mod range;
mod read;
mod render;
mod sections;

pub use crate::fields::{Detail, Fact};
pub use archive::{Archive, Baselines, Unresolved, home, is_baseline_name};
pub use collection::{Collection, ReportFile, all_files, files};
pub use facts::facts;
pub use notes::reasons;
pub(crate) use output::parent;
pub use output::{OutputError, StandardOutput, WholeFile, append, is_stdout};
pub use range::InvalidReport;
pub use read::{ReadError, accepted, checked, parse, parse_bytes, parse_line, read};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use sections::{TimerSection, document, sections};

#[cfg(feature = "schema")]
mod schema {
    //! Generates the JSON Schema of the report from its types; `docs/report.v2.schema.json` is a
    //! copy of it.

    use schemars::generate::SchemaSettings;
    use serde_json::Value;

    use estimators::model::{Report, SCHEMA};

    /// The schema (JSON Schema draft 2020-12). Every key is required: a value that was not
    /// determined is null, not absent.
    pub fn schema() -> Value {
        let generator = SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator();
        let mut schema = generator.into_root_schema_for::<Report>();
        schema.insert("title".to_owned(), SCHEMA.into());
        schema.to_value()
    }

    #[cfg(test)]
    mod tests {
        use super::schema;

        #[test]
        fn copy_in_docs_is_current() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/report.v2.schema.json");
            let now = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
            if std::env::var_os("UPDATE_SCHEMA").is_some() {
                std::fs::write(path, &now).unwrap();
            }
            let kept = std::fs::read_to_string(path).unwrap_or_default();
            assert!(
                kept == now,
                "{path} is not the schema of the types: run this test with UPDATE_SCHEMA=1"
            );
        }
    }
}
