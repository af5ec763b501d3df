//! Exported programs. Files that PyTorch wrote are compared with the contents that PyTorch reads. Broken programs are compared with
//! expected errors.

mod plain;

use plain::{compare, corpus, expected};
use serde_json::{Value, json};
use std::collections::HashMap;
use thorn_files::program::{Argument, Graph, Input, Output, Program, Size, Symbolic};
use thorn_files::read_model;
use thorn_files::zip::{self, Writer};
use thorn_files::{Contents, Data, Encoding, Format, read_program};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(corpus("program").join(name)).unwrap()
}

/// Returns a number as JSON. Floats are texts, as Python prints them.
fn number<T: Clone + Into<Value>>(number: &Symbolic<T>) -> Value {
    match number {
        Symbolic::Name(name) => json!({ "name": name }),
        Symbolic::Number(number) => number.clone().into(),
    }
}

fn float(float: &Symbolic<f64>) -> Value {
    match float {
        Symbolic::Name(name) => json!({ "name": name }),
        Symbolic::Number(float) if float.abs() >= 1e16 && float.is_finite() => json!(format!("{float:e}").replace('e', "e+")),
        Symbolic::Number(float) if float.abs() < 1e-4 && *float != 0.0 => json!(format!("{float:e}").replace("e-", "e-0")),
        Symbolic::Number(float) => json!(format!("{float:?}")),
    }
}

/// Returns an argument in the form of `expected/program.json`.
fn argument(argument: &Argument) -> Value {
    match argument {
        Argument::None => json!(["None"]),
        Argument::Tensor(name) => json!(["Tensor", name]),
        Argument::Tensors(names) => json!(["Tensors", names]),
        Argument::Int(int) => json!(["Int", number(int)]),
        Argument::Ints(ints) => json!(["Ints", ints.iter().map(number).collect::<Vec<_>>()]),
        Argument::Float(number) => json!(["Float", float(number)]),
        Argument::Floats(floats) => json!(["Floats", floats.iter().map(float).collect::<Vec<_>>()]),
        Argument::Bool(bool) => json!(["Bool", number(bool)]),
        Argument::Bools(bools) => json!(["Bools", bools]),
        Argument::Text(text) => json!(["Text", text]),
        Argument::Texts(texts) => json!(["Texts", texts]),
        Argument::Dtype(number) => json!(["Dtype", number]),
        Argument::MemoryFormat(number) => json!(["MemoryFormat", number]),
        Argument::Layout(number) => json!(["Layout", number]),
        Argument::Device(kind, index) => json!(["Device", kind, index]),
        Argument::Graph(name, part) => json!(["Graph", name, graph(part)]),
        Argument::Other(kind) => json!(["Other", kind]),
    }
}

fn arguments(list: &[Argument]) -> Value {
    list.iter().map(argument).collect()
}

fn graph(graph: &Graph) -> Value {
    let size = |size: &Size| match size {
        Size::Int(size) => json!(size),
        Size::Expression(text) => json!(text),
    };
    let tensors = graph.tensors.iter().map(|(name, meta)| {
        let sizes: Value = meta.sizes.iter().map(size).collect();
        (name.clone(), json!([meta.dtype, sizes, meta.requires_grad]))
    });
    let nodes = graph.nodes.iter().map(|node| {
        let inputs: Value = node.inputs.iter().map(|(name, input)| json!([name, argument(input)])).collect();
        json!([node.target, inputs, arguments(&node.outputs)])
    });
    json!({ "inputs": arguments(&graph.inputs), "outputs": arguments(&graph.outputs), "nodes": nodes.collect::<Value>(),
            "tensors": Value::Object(tensors.collect()) })
}

fn input(input: &Input) -> Value {
    match input {
        Input::User => json!(["User"]),
        Input::Parameter(name) => json!(["Parameter", name]),
        Input::Buffer { name, persistent } => json!(["Buffer", name, persistent]),
        Input::Constant(name) => json!(["Constant", name]),
        Input::Fixed(value) => json!(["Fixed", argument(value)]),
        Input::Other(kind) => json!(["Other", kind]),
    }
}

fn output(output: &Output) -> Value {
    match output {
        Output::User => json!(["User"]),
        Output::Mutation(name) => json!(["Mutation", name]),
        Output::InputMutation(name) => json!(["InputMutation", name]),
        Output::Other(kind) => json!(["Other", kind]),
    }
}

fn compare_tensors(at: &str, contents: &Contents, file: &Vec<u8>, wanted: &Value) {
    let wanted = wanted.as_object().unwrap();
    let mut names: Vec<&String> = contents.tensors.iter().map(|tensor| &tensor.name).collect();
    names.sort();
    assert_eq!(names, wanted.keys().collect::<Vec<_>>(), "{at}");
    // Two tensors share a storage here exactly if they share a storage in PyTorch.
    let mut shared = HashMap::new();
    for tensor in &contents.tensors {
        let (at, wanted) = (format!("{at}: {}", tensor.name), &wanted[&tensor.name]);
        compare(&at, contents, file, tensor, wanted);
        assert_eq!(json!(tensor.strides), wanted["strides"], "{at}");
        let Data::Storage(index) = tensor.data else { panic!("{at}") };
        assert!(contents.storages[index].encoding.plain().is_some(), "{at}");
        assert_eq!(*shared.entry(index).or_insert(&wanted["storage"]), &wanted["storage"], "{at}");
    }
    assert_eq!(shared.len(), contents.storages.len(), "{at}");
}

#[test]
fn files_of_pytorch() {
    let mut kinds = HashMap::new();
    for (row, wanted) in expected("program") {
        let (name, model) = row.split_once(':').map_or((&*row, None), |(name, model)| (name, Some(model)));
        let file = file(name);
        let (contents, program) = read_model(&file, model).unwrap_or_else(|error| panic!("{row}: {error}"));
        assert_eq!(contents.format, Format::Pt2);
        compare_tensors(&row, &contents, &file, &wanted["tensors"]);
        assert_eq!(graph(&program.graph), wanted["graph"], "{row}");
        assert_eq!(program.inputs.iter().map(input).collect::<Value>(), wanted["inputs"], "{row}");
        assert_eq!(program.outputs.iter().map(output).collect::<Value>(), wanted["outputs"], "{row}");
        let ranges = program.ranges.iter().map(|range| (range.symbol.clone(), json!([range.min, range.max])));
        assert_eq!(Value::Object(ranges.collect()), wanted["ranges"], "{row}");
        let metadata = contents.metadata.iter().filter(|(key, _)| key != "archive_version");
        let metadata = metadata.map(|(key, value)| (key.clone(), json!(value)));
        assert_eq!(Value::Object(metadata.collect()), wanted["metadata"], "{row}");
        // Every node of these models comes from a line of the script, or from a line that PyTorch adds.
        assert!(
            program.graph.nodes.iter().any(|node| node.source.contains("corpus_program.py\", line ")) || name.starts_with("two"),
            "{row}"
        );
        for node in &program.graph.nodes {
            node.inputs
                .iter()
                .map(|(_, input)| input)
                .chain(&node.outputs)
                .for_each(|it| *kinds.entry(argument(it)[0].clone()).or_insert(0) += 1);
        }
    }
    for kind in ["None", "Tensor", "Tensors", "Int", "Ints", "Float", "Bool", "Text", "Dtype", "MemoryFormat", "Device", "Graph"] {
        assert!(kinds.contains_key(&json!(kind)), "{kind} is in no file");
    }
    assert!(!kinds.contains_key(&json!("Other")));
}

#[test]
fn archives_list_the_weights() {
    for name in ["net_2.6.pt2", "net_2.15.pt2"] {
        let contents = thorn_files::open(&file(name)).unwrap();
        assert_eq!((contents.format, contents.tensors.len()), (Format::Pt2, 15), "{name}");
    }
    assert_eq!(Format::of_path(b"model.pt2"), Some(Format::Pt2));
    assert!(!Format::Pt2.writable());
    let message = read_program(&file("two_2.15.pt2")).unwrap_err().message;
    assert_eq!(message, "the archive has several programs: 'first' 'second'");
    let message = read_model(&file("two_2.15.pt2"), Some("third")).unwrap_err().message;
    assert_eq!(message, "the archive has no program 'third': 'first' 'second'");
    let message = read_program(&std::fs::read(corpus("torch").join("one.pt")).unwrap()).unwrap_err().message;
    assert_eq!(message, "the archive has no exported program");
}

/// Returns a graph with these inputs, outputs, nodes and tensors.
fn body(inputs: Value, outputs: Value, nodes: Value, tensors: Value) -> Value {
    json!({ "inputs": inputs, "outputs": outputs, "nodes": nodes, "tensor_values": tensors, "sym_int_values": {}, "sym_bool_values": {} })
}

/// Returns a call with these arguments and results.
fn node(target: &str, inputs: &[Value], outputs: &[Value]) -> Value {
    let inputs: Value = inputs.iter().map(|input| json!({ "name": "", "arg": input, "kind": 1 })).collect();
    json!({ "target": target, "inputs": inputs, "outputs": outputs, "metadata": {} })
}

fn tensor(name: &str) -> Value {
    json!({ "as_tensor": { "name": name } })
}

fn meta(dtype: i64, sizes: &[i64]) -> Value {
    let numbers = |numbers: &[i64]| numbers.iter().map(|number| json!({ "as_int": number })).collect::<Value>();
    json!({ "dtype": dtype, "sizes": numbers(sizes), "requires_grad": false, "device": { "type": "cpu", "index": null },
            "strides": numbers(&vec![1; sizes.len()]), "storage_offset": { "as_int": 0 }, "layout": 7 })
}

/// Returns a program that adds the parameter `w` and the input `x` of two elements.
fn sum() -> Value {
    let add = node("torch.ops.aten.add.Tensor", &[tensor("x"), tensor("p_w")], &[tensor("add")]);
    let tensors = json!({ "x": meta(7, &[2]), "p_w": meta(7, &[2]), "add": meta(7, &[2]) });
    json!({
        "graph_module": {
            "graph": body(json!([tensor("p_w"), tensor("x")]), json!([tensor("add")]), json!([add]), tensors),
            "signature": {
                "input_specs": [{ "parameter": { "arg": { "name": "p_w" }, "parameter_name": "w" } },
                                { "user_input": { "arg": tensor("x") } }],
                "output_specs": [{ "user_output": { "arg": tensor("add") } }],
            },
            "module_call_graph": [],
        },
        "opset_version": { "aten": 10 }, "range_constraints": {}, "schema_version": { "major": 8, "minor": 20 },
    })
}

/// Returns an archive with these entries in the folder `r`.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut file);
    writer.store("r/archive_format", &[b"pt2"], 1).unwrap();
    entries.iter().for_each(|(name, data)| writer.store(&format!("r/{name}"), &[data], 8).unwrap());
    writer.finish().unwrap();
    file.into_inner()
}

/// Returns an archive of a program whose weight `w` is the entry `weight_0`, with these bytes.
fn packed(program: &[u8], weights: &Value, weight: &[u8]) -> Vec<u8> {
    let config = json!({ "config": weights }).to_string();
    archive(&[
        ("models/model.json", program),
        ("data/weights/model_weights_config.json", config.as_bytes()),
        ("data/constants/model_constants_config.json", b"{\"config\": {}}"),
        ("data/weights/weight_0", weight),
    ])
}

fn row(use_pickle: bool, meta: Value) -> Value {
    json!({ "path_name": "weight_0", "is_param": true, "use_pickle": use_pickle, "tensor_meta": meta })
}

/// Reads a program with the weight `w`.
fn read_json(program: &Value) -> thorn_files::Result<(Contents, Program)> {
    read_program(&packed(program.to_string().as_bytes(), &json!({ "w": row(false, meta(7, &[2])) }), &[0; 8]))
}

#[test]
fn weights_have_several_forms() {
    let program = sum().to_string();
    let read = |weights: Value, weight: &[u8]| read_program(&packed(program.as_bytes(), &weights, weight));
    let (contents, program_read) = read(json!({ "w": row(false, meta(7, &[2])) }), &[1; 8]).unwrap();
    assert_eq!(contents.tensors[0].name, "w");
    assert!(program_read.graph.nodes[0].source.is_empty());
    // Names that share an entry share a storage.
    let (contents, _) = read(json!({ "w": row(false, meta(7, &[2])), "v": row(false, meta(7, &[2])) }), &[1; 8]).unwrap();
    assert_eq!((contents.tensors.len(), contents.storages.len()), (2, 1));
    // An archive of torch.save with one tensor. `one.pt` has another dtype and other sizes than the graph.
    let one = std::fs::read(corpus("torch").join("one.pt")).unwrap();
    let outer = thorn_files::open(&one).unwrap();
    let whole = packed(program.as_bytes(), &json!({ "w": row(false, meta(7, &[2])), "one": row(true, meta(7, &[2])) }), &one);
    let (contents, _) = read_program(&whole).unwrap();
    let found = contents.tensors.iter().find(|tensor| tensor.name == "one").unwrap();
    assert_eq!(found.sizes, outer.tensors[0].sizes);
    assert_eq!(plain::elements(&contents, &whole, found), plain::elements(&outer, &one, &outer.tensors[0]));
    // Objects of other classes are no tensors.
    let tree = std::fs::read(corpus("torch").join("tree.pt")).unwrap();
    let weights = json!({ "w": row(false, meta(7, &[2])), "tree": row(true, meta(7, &[2])), "object": row(true, Value::Null) });
    let (contents, _) = read(weights, &tree).unwrap();
    assert_eq!(contents.tensors.iter().find(|tensor| tensor.name == "tree").unwrap().data.refusal(), Some("it is no plain tensor"));
    assert!(contents.tensors.iter().all(|tensor| tensor.name != "object"));
    // PyTorch writes entries without bytes for weights without elements.
    let (contents, _) = read(json!({ "w": row(false, meta(7, &[2])) }), &[]).unwrap();
    assert_eq!(contents.tensors[0].data.refusal(), Some("the archive was written without its elements"));
    let errors = [
        (row(false, meta(7, &[3])), "tensor 'w' has the sizes [3] in the archive, and [Int(2)] in the graph"),
        (row(false, meta(5, &[2])), "tensor 'w' has int64 in the archive, and the dtype 7 in the graph"),
        (row(false, meta(7, &[-2])), "entry 'r/data/weights/model_weights_config.json': tensor 'w': size -2 is negative"),
    ];
    for (row, message) in errors {
        assert_eq!(read(json!({ "w": row }), &[0; 16]).unwrap_err().message, message);
    }
    let message = read(json!({ "w": row(false, meta(7, &[2])) }), &[0; 4]).unwrap_err().message;
    assert_eq!(message, "tensor 'w': sizes [2], strides [1] and offset 0 reach beyond the 1 elements of its storage");
    let message = read(json!({}), &[]).unwrap_err().message;
    assert_eq!(message, "the graph needs the tensor 'w', which is not in the archive");
    let message = read(json!({ "w": row(true, meta(7, &[2])) }), b"no archive").unwrap_err().message;
    let end = "entry 'r/data/weights/weight_0': byte 10: the file ends early: the directory of a zip archive is missing at its end";
    assert!(message.ends_with(end), "{message}");
}

#[test]
fn big_endian_weights_are_converted() {
    let program = sum().to_string();
    let config = json!({ "config": { "w": row(false, meta(7, &[2])) } }).to_string();
    let file = archive(&[
        ("byteorder", b"big"),
        ("models/model.json", program.as_bytes()),
        ("data/weights/model_weights_config.json", config.as_bytes()),
        ("data/constants/model_constants_config.json", b"{\"config\": {}}"),
        ("data/weights/weight_0", &[1.5f32.to_be_bytes(), 2.5f32.to_be_bytes()].concat()),
    ]);
    let (contents, _) = read_program(&file).unwrap();
    assert!(matches!(contents.storages[0].encoding, Encoding::Numbers { big_endian: true, .. }));
    assert_eq!(plain::elements(&contents, &file, &contents.tensors[0]).1, [1.5, 2.5].map(plain::Value::Float));
}

#[test]
fn broken_programs_are_refused() {
    read_json(&sum()).unwrap();
    let graph = "/graph_module/graph";
    let node = format!("{graph}/nodes/0");
    let place = "entry 'r/models/model.json': byte ";
    let cases: [(&str, Value, &str); 18] = [
        (&format!("{node}/inputs/0/arg"), tensor("y"), "node 0, 'torch.ops.aten.add.Tensor': the value 'y' is not defined"),
        (&format!("{node}/inputs/0/arg"), tensor("add"), "node 0, 'torch.ops.aten.add.Tensor': the value 'add' is not defined"),
        (
            &format!("{node}/inputs/0/arg"),
            json!({ "as_sym_ints": [{ "as_int": 1 }, { "as_name": "s0" }] }),
            "node 0, 'torch.ops.aten.add.Tensor': the value 's0' is not defined",
        ),
        (&format!("{node}/outputs/0"), tensor("x"), "node 0, 'torch.ops.aten.add.Tensor': the result 'x' has the name of an earlier value"),
        (&format!("{node}/outputs"), json!([]), "an output of the graph: the value 'add' is not defined"),
        (&format!("{node}/outputs/0"), json!({ "as_tensor": {} }), "an object with the key 'name' is expected"),
        (&format!("{node}/outputs/0"), json!({ "as_tensor": { "name": 3 } }), "a text is expected"),
        (&format!("{node}/outputs/0"), json!({}), "an object with one key is expected"),
        (&format!("{node}/inputs/0/arg"), json!({ "as_int": 1.5 }), "an integer is expected"),
        (&format!("{node}/inputs/0/arg"), json!({ "as_float": "much" }), "a number is expected"),
        (&format!("{graph}/inputs/1"), tensor("p_w"), "number 1 of the graph's inputs differs from the one in the signature"),
        (&format!("{graph}/inputs"), json!([tensor("x")]), "the graph has 1 inputs, and the signature describes 2"),
        (&format!("{graph}/tensor_values/x/sizes/0"), json!({ "as_int": -1 }), "size -1 is negative"),
        (&format!("{graph}/tensor_values/x/sizes"), vec![json!({ "as_int": 1 }); 1025].into(), "there are more than 1024 sizes"),
        (&format!("{graph}/tensor_values/p_w/dtype"), json!(6), "tensor 'w' has float32 in the archive, and the dtype 6 in the graph"),
        (
            "/graph_module/signature/output_specs/0",
            json!({ "buffer_mutation": { "arg": { "name": "add" }, "buffer_name": "b" } }),
            "an output is the new value of 'b', which is no parameter or buffer",
        ),
        (
            "/graph_module/signature/output_specs/0",
            json!({ "user_input_mutation": { "arg": { "name": "add" }, "user_input_name": "p_w" } }),
            "an output is the new value of 'p_w', which is no input of the caller",
        ),
        ("/schema_version/major", json!(9), "entry 'r/models/model.json': the schema has the version 9.20, and 8 is read"),
    ];
    for (path, value, wanted) in cases {
        let mut program = sum();
        *program.pointer_mut(path).unwrap() = value;
        let message = read_json(&program).unwrap_err().message;
        let is_whole = message == wanted || message.strip_prefix("entry 'r/models/model.json': ") == Some(wanted);
        assert!(is_whole || message.starts_with(place) && message.ends_with(&format!(": {wanted}")), "{message}, not {wanted}");
    }
}

#[test]
fn parts_of_a_graph_have_their_own_values() {
    let with = |inputs: Value, name: &str| {
        let nodes = json!([node("torch.ops.aten.sin.default", &[tensor(name)], &[tensor("sin")])]);
        let part = json!({ "as_graph": { "name": "true_graph_0", "graph": body(inputs, json!([tensor("sin")]), nodes, json!({})) } });
        let mut program = sum();
        program["graph_module"]["graph"]["nodes"][0]["inputs"].as_array_mut().unwrap().push(json!({ "name": "", "arg": part }));
        read_json(&program).map(|(_, program)| program)
    };
    let program = with(json!([tensor("x")]), "x").unwrap();
    let Argument::Graph(name, part) = &program.graph.nodes[0].inputs[2].1 else { panic!() };
    assert_eq!((&**name, &*part.nodes[0].target), ("true_graph_0", "torch.ops.aten.sin.default"));
    let message = with(json!([tensor("y")]), "x").unwrap_err().message;
    let wanted = "node 0, 'torch.ops.aten.add.Tensor': graph 'true_graph_0': node 0, 'torch.ops.aten.sin.default': \
                  the value 'x' is not defined";
    assert_eq!(message, wanted);
}

#[test]
fn arguments_have_many_kinds() {
    let read = |value: Value| {
        let mut program = sum();
        program["graph_module"]["graph"]["nodes"][0]["inputs"][1]["arg"] = value;
        read_json(&program).map(|(_, mut program)| program.graph.nodes.swap_remove(0).inputs.swap_remove(1).1)
    };
    let int = |int| Symbolic::Number::<i64>(int);
    let cases = [
        (json!({ "as_none": true }), Argument::None),
        (json!({ "as_none": [] }), Argument::None),
        (json!({ "as_ints": [1, -2] }), Argument::Ints(vec![int(1), int(-2)])),
        (json!({ "as_float": 3 }), Argument::Float(Symbolic::Number(3.0))),
        (json!({ "as_float": "-Infinity" }), Argument::Float(Symbolic::Number(f64::NEG_INFINITY))),
        (json!({ "as_floats": [0.1, 1e300] }), Argument::Floats(vec![Symbolic::Number(0.1), Symbolic::Number(1e300)])),
        (json!({ "as_sym_float": { "as_float": 2.5 } }), Argument::Float(Symbolic::Number(2.5))),
        (json!({ "as_sym_bool": { "as_bool": true } }), Argument::Bool(Symbolic::Number(true))),
        (json!({ "as_sym_bools": [{ "as_bool": true }, { "as_bool": false }] }), Argument::Bools(vec![true, false])),
        (json!({ "as_sym_bools": [{ "as_name": "x" }] }), Argument::Other("as_sym_bools".to_owned())),
        (json!({ "as_optional_tensor": { "as_none": true } }), Argument::None),
        (json!({ "as_optional_tensor": { "as_tensor": { "name": "x" } } }), Argument::Tensor("x".to_owned())),
        (
            json!({ "as_optional_tensors": [{ "as_none": [] }, { "as_tensor": { "name": "x" } }] }),
            Argument::Tensors(vec![None, Some("x".to_owned())]),
        ),
        (json!({ "as_strings": ["a", "\u{1f600}\n\"\\/\u{8}\u{c}\r\t\u{0}ü"] }), {
            Argument::Texts(vec!["a".to_owned(), "\u{1f600}\n\"\\/\u{8}\u{c}\r\t\u{0}ü".to_owned()])
        }),
        (json!({ "as_device": { "type": "cuda", "index": 1 } }), Argument::Device("cuda".to_owned(), Some(1))),
        (json!({ "as_layout": 7 }), Argument::Layout(7)),
        (json!({ "as_complex": { "real": 1.0, "imag": 2.0 } }), Argument::Other("as_complex".to_owned())),
        (json!({ "as_later": [[[]]] }), Argument::Other("as_later".to_owned())),
    ];
    for (json, wanted) in cases {
        assert_eq!(read(json.clone()).unwrap(), wanted, "{json}");
    }
}

/// Reads a program in which `old` is replaced by `new`.
fn replaced(old: &str, new: &str) -> thorn_files::Result<(Contents, Program)> {
    let program = sum().to_string();
    assert!(program.contains(old));
    let program = program.replace(old, new);
    read_program(&packed(program.as_bytes(), &json!({ "w": row(false, meta(7, &[2])) }), &[0; 8]))
}

#[test]
fn json_has_the_numbers_and_texts_of_python() {
    // PyTorch 2.6 writes numbers that JSON lacks.
    for (text, wanted) in
        [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY), ("-0.0", -0.0), ("5e-324", 5e-324)]
    {
        let (_, program) = replaced(r#"{"as_tensor":{"name":"p_w"}},"kind""#, &format!(r#"{{"as_float":{text}}},"kind""#)).unwrap();
        let Argument::Float(Symbolic::Number(found)) = program.graph.nodes[0].inputs[1].1 else { panic!() };
        assert!(found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan(), "{text}: {found}");
    }
    for (text, wanted) in [(r#"\ud83d\ude00\u00fC"#, "\u{1f600}ü"), (r#"\ud83d!\ude00\""#, "\u{fffd}!\u{fffd}\"")] {
        let (_, program) = replaced("torch.ops.aten.add.Tensor", text).unwrap();
        assert_eq!(program.graph.nodes[0].target, wanted);
    }
    let ranges = r#"{"s0":{"min_val":2,"max_val":null},"a":{"min_val":-Infinity,"max_val":99999999999999999999}}"#;
    let (_, program) = replaced(r#""range_constraints":{}"#, &format!(r#""range_constraints":{ranges}"#)).unwrap();
    let found: Vec<_> = program.ranges.iter().map(|range| (&*range.symbol, range.min, range.max)).collect();
    assert_eq!(found, [("s0", Some(2), None), ("a", None, None)]);
    let errors = [
        ("[]", "[,]", "a value is expected"),
        ("[]", "[1 2]", "a comma or the closing bracket is expected"),
        ("[]", "[1", "a comma or the closing bracket is expected"),
        ("[]", "[-]", "a number is expected"),
        ("[]", "[1-2]", "a number is expected"),
        ("[]", "[nul]", "a value is expected"),
        ("[]", "[\"", "a comma or the closing bracket is expected"),
        ("[]", r#"["\u12g4"]"#, "a string has an invalid number of a character"),
        ("[]", r#"["\x"]"#, "a string has an unknown escape"),
        ("[]", "{1:2}", "a key is expected"),
        ("[]", r#"{"a" 2}"#, "a colon is expected"),
    ];
    for (old, new, wanted) in errors {
        let message = replaced(&format!(r#""module_call_graph":{old}"#), &format!(r#""module_call_graph":{new}"#)).unwrap_err().message;
        assert!(message.starts_with("entry 'r/models/model.json': byte ") && message.ends_with(wanted), "{message}");
    }
    for depth in [100, 200, 1_000_000] {
        let deep = format!(r#""module_call_graph":[],"deep":{}{}"#, "[".repeat(depth), "]".repeat(depth));
        let result = replaced(r#""module_call_graph":[]"#, &deep);
        assert_eq!(result.is_ok(), depth == 100, "{depth}");
    }
}

#[test]
fn checksums_of_graphs_are_compared() {
    let mut file = file("train_2.15.pt2");
    let entries = zip::read(&file).unwrap();
    let at = entries.iter().find(|entry| entry.name.ends_with("models/model.json")).unwrap().at;
    file[at as usize + 100] ^= 1;
    let message = read_program(&file).unwrap_err().message;
    assert!(message.ends_with("has a checksum that differs from the checksum of its data"), "{message}");
}
