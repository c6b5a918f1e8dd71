//! Access to the JSON schema of the configuration.

use serde_json::Value as Json;

/// A node of the schema. References are followed, and an optional value is the value.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    root: &'a Json,
    node: &'a Json,
}

impl<'a> Schema<'a> {
    pub(super) const fn new(root: &'a Json) -> Self {
        Self { root, node: root }
    }

    fn at(self, node: &'a Json) -> Self {
        let node = match node["$ref"].as_str() {
            Some(reference) => self.root.pointer(reference.trim_start_matches('#')).unwrap_or(&Json::Null),
            None => node,
        };
        let mut real = node["anyOf"].as_array().into_iter().flatten().filter(|one| one["type"] != "null");
        match (real.next(), real.next()) {
            (Some(only), None) => self.at(only),
            _ => Self { node, ..self },
        }
    }

    pub(super) fn has(self, keyword: &str) -> bool {
        self.node[keyword].is_object()
    }

    pub(super) fn child(self, keyword: &str) -> Self {
        self.at(&self.node[keyword])
    }

    pub(super) fn properties(self) -> impl Iterator<Item = (&'a str, Self)> {
        let properties = self.node["properties"].as_object().into_iter().flatten();
        properties.map(move |(name, node)| (name.as_str(), self.at(node)))
    }

    pub(super) fn property(self, name: &str) -> Option<Self> {
        self.node["properties"].get(name).map(|node| self.at(node))
    }

    pub(super) fn required(self) -> impl Iterator<Item = &'a str> {
        self.node["required"].as_array().into_iter().flatten().filter_map(Json::as_str)
    }

    pub(super) fn types(self) -> Vec<&'a str> {
        match &self.node["type"] {
            Json::String(only) => vec![only],
            Json::Array(several) => several.iter().filter_map(Json::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the texts allowed here, `None` if others are allowed too.
    pub(super) fn choices(self) -> Option<Vec<&'a str>> {
        if let Some(allowed) = self.node["enum"].as_array() {
            return allowed.iter().map(Json::as_str).collect();
        }
        if let Some(only) = self.node["const"].as_str() {
            return Some(vec![only]);
        }
        let alternatives = self.alternatives();
        let choices: Option<Vec<_>> = alternatives.iter().map(|one| one.choices()).collect();
        choices.filter(|choices| !choices.is_empty()).map(|choices| choices.concat())
    }

    pub(super) fn alternatives(self) -> Vec<Self> {
        let all = ["oneOf", "anyOf"].into_iter().filter_map(|key| self.node[key].as_array()).flatten();
        all.map(|node| self.at(node)).filter(|one| one.node["type"] != "null").collect()
    }

    /// Returns the key whose text says which alternative a table is.
    pub(super) fn tag(self) -> Option<&'a str> {
        self.properties().find(|(_, property)| property.node["const"].is_string()).map(|(name, _)| name)
    }

    pub(super) fn bound(self, keyword: &str) -> Option<f64> {
        self.node[keyword].as_f64()
    }

    pub(super) fn maximum(self) -> Option<f64> {
        let of_format = || (self.node["format"] == "uint32").then_some(f64::from(u32::MAX));
        self.bound("maximum").or_else(of_format)
    }
}
