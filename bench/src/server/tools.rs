//! The list of tools: made up, but shaped and sized like those of real servers (about 1 KB each,
//! with nested schemas, lists of choices, bounds and annotations).

use crate::facts::tool_name;

/// The tool that echoes, as most servers describe one.
const ECHO: &str = concat!(
    r#"{"name":"echo","description":"Answers with the message.","inputSchema":{"type":"object","#,
    r#""properties":{"message":{"type":"string"}},"required":["message"],"additionalProperties":false}}"#
);

/// Appends the JSON array of `count` tools, and of the one that echoes.
pub(super) fn write_array(out: &mut Vec<u8>, count: usize, with_echo: bool) {
    out.push(b'[');
    if with_echo {
        out.extend_from_slice(ECHO.as_bytes());
        out.extend((count > 0).then_some(b','));
    }
    for index in 0..count {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(tool(index).as_bytes());
    }
    out.push(b']');
}

/// The text of one tool.
pub(crate) fn tool(index: usize) -> String {
    let name = tool_name(index);
    let read_only = index.is_multiple_of(2);
    let most = 50 + index % 50;
    format!(
        concat!(
            r#"{{"name":"{name}","title":"Tool {index}: work on the team's records","#,
            r#""description":"Finds or changes the records that match the query. Results come newest "#,
            r#"first, at most `limit` of them; pass `cursor` from an earlier answer to go on where it "#,
            r#"ended.\n\nReturns one record a line.","#,
            r#""inputSchema":{{"type":"object","properties":{{"#,
            r#""query":{{"type":"string","description":"Words to look for; \"quoted\" ones stay together","minLength":1}},"#,
            r#""filter":{{"type":"object","description":"Leaves out what does not match","properties":{{"#,
            r#""state":{{"type":"string","enum":["open","closed","all"],"default":"open"}},"#,
            r#""labels":{{"type":"array","items":{{"type":"string"}},"maxItems":10}},"#,
            r#""since":{{"type":"string","format":"date-time"}}}},"additionalProperties":false}},"#,
            r#""limit":{{"type":"integer","minimum":1,"maximum":{most},"default":20}},"#,
            r#""cursor":{{"type":["string","null"]}}}},"#,
            r#""required":["query"],"additionalProperties":false}},"#,
            r#""annotations":{{"readOnlyHint":{read_only},"destructiveHint":false,"openWorldHint":true}}}}"#,
        ),
        name = name,
        index = index,
        most = most,
        read_only = read_only,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_json_of_about_a_kilobyte_a_tool() {
        let mut out = Vec::new();
        write_array(&mut out, 100, false);
        let tools: Vec<serde_json::Value> = serde_json::from_slice(&out).unwrap();
        assert_eq!(tools.len(), 100);
        assert_eq!(tools[99]["name"], tool_name(99));
        assert!((900..1200).contains(&(out.len() / 100)), "{}", out.len());
    }
}
