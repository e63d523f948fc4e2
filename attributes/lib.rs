//! The attribute of types that documents hold, which names their derives once. Without the feature
//! `serde` of their crate, these types are not written to documents and need no crate for that.

#![forbid(unsafe_code)]

use proc_macro::{Group, TokenStream, TokenTree};

/// Derives for a type that is part of a trace.
const RECORDED: &str = "#[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(feature = \"serde\", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(not(feature = \"serde\"), derive(attributes::Unwritten))]";
/// Further derives for a type that is part of the report.
const SCHEMA: &str = "#[cfg_attr(feature = \"schema\", derive(schemars::JsonSchema))]";

/// The attribute of a key that documents leave out if its value is `None`.
const OPTIONAL: &str = "serde(default, skip_serializing_if = \"Option::is_none\")";

/// `#[apply(wire)]` derives the traits of a type that is part of the report, `#[apply(recorded)]`
/// those of a type that is part of a trace, and `#[apply(wire, Copy)]` a further one; documents
/// leave out a field with `#[optional]` if it is `None`. Any other name is a macro, which gets the item.
#[proc_macro_attribute]
pub fn apply(kind: TokenStream, item: TokenStream) -> TokenStream {
    let kind = kind.to_string();
    let (kind, further) = kind.split_once(',').unwrap_or((&kind, ""));
    let schema = match kind.trim() {
        "wire" => SCHEMA,
        "recorded" => "",
        _ => return tokens(&format!("{kind}! {{ {item} }}")),
    };
    let attributes = format!("{RECORDED} {schema} #[derive({further})]");
    let item = with_optional(item);
    tokens(&attributes).into_iter().chain(item).collect()
}

/// Replaces `#[optional]` by the attribute of serde.
fn with_optional(item: TokenStream) -> TokenStream {
    let expanded = |token| match token {
        TokenTree::Group(group) => {
            let inner = match group.stream().to_string().as_str() {
                "optional" => tokens(OPTIONAL),
                _ => with_optional(group.stream()),
            };
            Group::new(group.delimiter(), inner).into()
        }
        token => token,
    };
    item.into_iter().map(expanded).collect()
}

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("the text is Rust")
}

/// Derives nothing, and lets a type keep its attributes of serde when it is not written to
/// documents.
#[proc_macro_derive(Unwritten, attributes(serde))]
pub fn unwritten(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
