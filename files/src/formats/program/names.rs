//! The names of a program's results: the paths to the results in the nested value that the model returns.

use super::json::{self, Json, Value};
use crate::budget::Budget;
use crate::error::Result;
use crate::grow;

/// Returns the paths to the leaves of the model's result, in order: `logits`, `states.0`. The keys of dicts and the indices of lists are
/// joined by points. The list is empty if the file does not describe the result in a known form.
pub fn outputs(json: &Json<'_>, budget: &mut Budget) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let Some(first) = json.get("graph_module")?.get("module_call_graph")?.list()?.first() else { return Ok(names) };
    let Some(signature) = first.find("signature")? else { return Ok(names) };
    let Some(spec) = signature.find("out_spec")? else { return Ok(names) };
    // The description is a text of JSON: its version, and the tree.
    let spec = json::parse(spec.text()?.as_bytes(), budget)?;
    if let [_, tree] = spec.list()? {
        leaves(tree, "", &mut names, budget)?;
    }
    Ok(names)
}

fn leaves(tree: &Json<'_>, path: &str, names: &mut Vec<String>, budget: &mut Budget) -> Result<()> {
    if tree.find("type")?.is_none() {
        budget.take(path.len())?;
        return budget.push(names, grow::text(&[path])?);
    }
    let keys = match tree.find("context")? {
        Some(context) => json::parse(context.text()?.as_bytes(), budget).ok(),
        None => None,
    };
    for (index, child) in tree.get("children_spec")?.list()?.iter().enumerate() {
        let key = match &keys {
            Some(Json { value: Value::List(keys), .. }) => keys.get(index).and_then(|key| key.text().ok()),
            _ => None,
        };
        let number = index.to_string();
        let key = key.unwrap_or(&number);
        leaves(child, &grow::joined(path, key)?, names, budget)?;
    }
    Ok(())
}
