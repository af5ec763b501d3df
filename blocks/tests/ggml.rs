//! Blocks that ggml encoded: the reference functions `quantize_row_*_ref` of llama.cpp (vendored by llama-cpp-python 0.3.36), compiled
//! without fused multiply-add.

use thorn_blocks::{Blocks, GROUP, Unpacked};

/// The blocks of [`numbers`].
#[rustfmt::skip]
const EXPECTED: &[(&str, &str)] = &[
    ("Q4_0", "4036d043c9805a4664a5089c340df80646a800b62f44582af986f0497f836525d24ea7de00b62eed7ae42d525638f7940f689fa285444036d18a6460\
        8fd043c9805a4664a5089c344036b0ef20942ae1ccb8d7278a1fc7918dab00b682fd245a4d2eed7ae42d525638f7940f40364a5787c84cd18a64608f\
        d043c9805a464036f67a10d9b3b0ef20942ae1ccb8d7278aa029a08c99c80a8e13ecc6c2f122962ce3be402a3b9d01a76f4a5787c84cd18a64608fd0\
        402ac48c7875a4f67a10d9b3b0ef20942ae1a0292c6cce31e8a08c99c80a8e13ecc6c2f1402aa24902fe0b3b9d01a76f4a5787c84cd1402af80646a8\
        1dc48c7875a4f67a10d9b3b0a0293ec269221f2c6cce31e8a08c99c80a8e402a727d8bcc1ea24902fe0b3b9d01a76f4a"),
    ("Q4_1", "553640c2d033c9705a4664a5079c330df80646984436c0c1d1bbb7d6178a0fb6808c9ada3db269224436c0c1d122962bd3ada9c8086bf0a8716d7bbb\
        553640c2d18964608fd033c9705a4664a5079c33893640c2b0df209429d1bbb8d6278a1fb7918c9a4436c0c18d13dbb6b2d122962bd3ada9c8086bf0\
        553640c24a5776c83cd18964608fd033c9705a46893640c2f67a10c8a3b0df209429d1bbb8d6278a7729a0b5a09d99d90a8f13edc6c3f123a62df3cf\
        892a40b63a8c01a76f4a5776c83bc18964608fc0892a40b6b38c6775a4f67a10c8a3b0df209429d17729a0b53c6cde31f8a09d99d90a8f13edc6c3f1\
        892a40b6924902fd0b3a8c01a76f4a5776c83bc1892a40b6f80646981cb38c6775a4f67a10c8a3b07729a0b53fd26a321f3c6cde31f8a09d99d90a8f\
        892a40b6726d8bbb1d924902fd0b3a8c01a76f4a"),
    ("Q5_0", "4032149a8592a07691f0a49cc94a0f19670ae11c8c3100b29da170d04e989053d10bf082eff6ca4a948c3dac00b2171c0a734dcad3c849a4ac6ffe28\
        0fb01d35098940329242b350a313c8c11ea07691f0a49cc94a0f19674032d2ccebf560be413853c37770bd3f052f8e21194500b2fa82436104d95893\
        9a4dcad3c849a4ac6ffe280f40325952681695affd9077a313c8c11ea07691f0a49c40324a9a79bdfce410915660be413853c37770bd3f05a025bea0\
        afd740192291040d26c97c85d2453c39c67d4026334b0acd6519014ecf95affd9077a313c8c11ea04026424933af7709dffa59fce410915660be4138\
        53c3a025d717f4f558c79c62d040192291040d26c97c85d240267a6649a1358314eb066519014ecf95affd9077a34026592869e6e11c8c313a7709df\
        fa59fce410915660a025f5fa82be6c93c3542d58c79c62d040192291040d40265ecf2c29f3db07773c358314eb066519014ecf95"),
    ("Q5_1", "213240c2149a8592a07792f0a59cc95a0f29770af11d8d411132c0c1625eaf2fb2676fac2e040f7d100935b56b73c2541132c0c1e8ebf58cb3452c37\
        b65b539001d7f040e2caf676213240c29242b350a314d8d11fa07792f0a59cc95a0f2977533240c2d2ccebf560be412853c37760bd3f052f7e210945\
        1132c0c1057dbd9e0b26a76c65b3452c37b65b539001d7f0213240c25952681695affd9078a314d8d11fa07792f0a59c533240c24a9a79bdfce41091\
        5660be412853c37760bd3f054a25a0b5bea0afd7602a33a2061f27ea9d95f3454d3ae78f532640b6334b0acd6519014ecf959ffd9077a313c8c11ea0\
        532640b6424933af7709dff959fce410915660be412853c34a25a0b5d717f4f559d9ae72f1602a33a2061f27ea9d95f3532640b67a6649a1358214eb\
        066519014ecf959ffd9077a3532640b6592869e6e11c8c313a7709dff959fce4109156604a25a0b5f5fa82be7ea3d4543f59d9ae72f1602a33a2061f\
        532640b65ecf2c29f3db06773c358214eb066519014ecf95"),
    ("Q8_0", "4d2681b40a8421e2c6cdf847b94f08e4e4084fb947f8cdc6e221840ab4817286be190c26943d00e8f5287ff0864d2d325da115a3623a385a96038940\
        1005205fb942e6ae0c269baee642b95f200510408903965a383a62a315a15d322d4d86f07f28f5e8003d4d269819be867281b40a8421e2c6cdf847b9\
        4f08e4e4084fb947f8cdc6e221840ab44d26817286be19983a00e9f6267af18b4a2b3059a514a75e3835569a038e3d0f051e0c265fb942e6ae9baee6\
        42b95f200510408903965a383a62a315a15d322d4d86f07f4d2626f6e9003a9819be867281b40a8421e2c6cdf847b94f08e4e4084fb947f8cdc64d26\
        e221840ab4817286be19983a00e9f6267af18b4a2b3059a514a75e3835569a03ab19814411062266b447e4a995a9e447b4662206114481038f603b3e\
        689d179a63364d1a2b4a8bf17a26f6e9003a9819be867281b40a8421e2c6cdf847b94f08e4e4084f4d1ab947f8cdc6e221840ab4817286be19983a00\
        e9f6267af18b4a2b3059a514a75eab193e3b608f03814411062266b447e4a995a9e447b4662206114481038f603b3e684d1aa714a559302b4a8bf17a\
        26f6e9003a9819be867281b40a8421e2c6cdf847b94f4d1a08e4e4084fb947f8cdc6e221840ab4817286be19983a00e9f6267af18b4a2b30ab19639a\
        179d683e3b608f03814411062266b447e4a995a9e447b4662206114481034d1a9a5635385ea714a559302b4a8bf17a26f6e9003a9819be867281b40a\
        8421e2c6"),
    ("Q4_K", "a31e5c2afdfdfcfcfefafafdff9cdfdd10b378607aa6f46507cca3add8269628ddb3bcd7157406ba808893d03fb064291192460bf30d398808ab6048\
        517dcb3bdd8269628dda3acc70564f6aa706873bd03fb06429112b68b637da9f8781bc0a7b1dd2b9b2dd2b9b1dd2a8a1cb0968fa6aa706873b01f903\
        409e10b3886079a6f47407cca3bcd8269628ecb3bcd71484b312561ef7fffdf7f8fffdf8cded87dda0cc1978faae736c86b21192460ce30e3a8809ac\
        6048517ecb3cce8269618ecbc3bce7148406ca9088a3e03fc06329112b68c637eaaf8790cc0a8b1de2b9c2ed8269628dda3acc70574f6aa706873b01\
        f903409e10b3886079a6f47407cca3bc1ed1b9b2de2c9b2ed1b8a0cc0978faae736c86b21192360cf30e3a8809ac6048"),
    ("Q5_K", "6a1a6c2afcfdfdfcfef9f9feff9dfcef609a21c45906d61c25cf32b3e32c7e959f1a67f3acfcd43f9a63f6a6f9d218b52067f2c0e54df9da008a575b\
        a23d2d42bb676aa02af90d75100237b06f71c85433458c17f60b73200157d09fa20aa676bb24d2d32ab575a800ad9fd45e0c2f76b06e71c8533357c0\
        7d6fb53f0e117905f62ba56365bc47273ba350528802d1f4c64f0e116803e418813f307702d1e55df9ea109a586bb24d2d52bb786ab03a09660e5c1e\
        f5fffff5f9fffff9ffff95ff6a9fc9b1fb53fc498eda98e64871d6c1354789b30cad38499f656fc649fc2b7f509a13e2f65ff7db0d7533358d1be70f\
        6612034ac091a2fe9979af14c4c41ea89799ef2a190ca4302166f07eb1d8533357d0bd7ff56f2e31a905162be49295fc15c2c41ba67599f1ae9fc54f\
        0d106703e318813e307601d0f45cf9ea1f99576a3eb47474cf59294eb261509a13e2f65ff7db0d7533358d1be70f6612034ac091"),
    ("Q6_K", "50ad9321d89881134e120e144289f902847eb27e934158d8e0431d603d610f166b61f016d306d0341e8d851339e82be74a209f982441e021e4311889\
        8d0239caa1dca200f6666ef01ade09de3c13828b7d493746c71ad0bfb8d411c0413441788a8d1239da05da19f26d6af901a4d1a01f4aead25248977b\
        b77984252daea4f10c841a38ca3521a92db34467427de53ecfbc5b7d81d911ce786a485ca32ca4126c931ca52200e2060db10e8ba9486f9236bfe006\
        74431fe66fd00674432efa728384798f8f7b8385808f907b8350837b6792e021e431198a8d1239da05da19f26d6a18016431601144e8df504a9776b7\
        798d0bf2834c1e091e4a108e96d62092ac51ac9320d89881134e120e144289f902a4976b6879b305fd8e34100613461091abd62f91ad50ad9320d8a8\
        91134e120e14a2a92922847eb27e934158d8e1431d60dda10ff7656ff01add0adf3c12838b1cc8bfd2169e1be487a988c038c5432c03126ae22bd486\
        a4b7ce139f08f694fbcefb0567483df16cf70664453ae2aa21734e70908b00881a34c6392da521bf486b908f8085837b8f8f7984838591907b836786"),
];

/// Numbers that float32 has exactly. The last 256 are eight times as small.
fn numbers() -> Vec<f32> {
    let number = |i: i32| ((i * i * 7 + i * 13) % 101 - 50) as f32 / if i < 256 { 16.0 } else { 128.0 };
    (0..512).map(number).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn encoded(blocks: Blocks, numbers: &[f32]) -> Vec<u8> {
    let mut bytes = vec![255; blocks.encoded(numbers.len() * 4)];
    blocks.encode(numbers, &mut bytes);
    bytes
}

#[test]
fn blocks_are_those_of_ggml() {
    let known: Vec<&str> = Blocks::ALL.iter().filter(|blocks| blocks.encodes()).map(|blocks| blocks.name()).collect();
    assert_eq!(known, EXPECTED.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (name, expected) in EXPECTED {
        let blocks = Blocks::ALL.iter().find(|blocks| blocks.name() == *name).unwrap();
        assert_eq!(hex(&encoded(*blocks, &numbers())), *expected, "{name}");
    }
}

/// The steps of a structure are the range of its codes. A number is at most a step away from its code.
#[test]
fn encoded_numbers_are_near() {
    for &blocks in Blocks::ALL.iter().filter(|blocks| blocks.encodes()) {
        let mut decoded = vec![0.0; 512];
        blocks.decode(&encoded(blocks, &numbers()), &mut decoded);
        let steps = match blocks {
            Blocks::Q8_0 => 254.0,
            Blocks::Q6_K => 63.0,
            Blocks::Q5_0 | Blocks::Q5_1 | Blocks::Q5_K => 31.0,
            _ => 15.0,
        };
        for (i, (x, y)) in numbers().iter().zip(&decoded).enumerate() {
            let range = if i < 256 { 100.0 / 16.0 } else { 100.0 / 128.0 };
            assert!((x - y).abs() <= 1.05 * range / steps, "{}: {y} for {x}", blocks.name());
        }
    }
}

#[test]
fn zeros_infinities_and_nan() {
    for &blocks in Blocks::ALL.iter().filter(|blocks| blocks.encodes()) {
        let mut decoded = vec![1.0; 256];
        blocks.decode(&encoded(blocks, &[0.0; 256]), &mut decoded);
        assert!(decoded.iter().all(|&x| x == 0.0), "{}", blocks.name());
        for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut numbers = [1.0; 512];
            numbers[300] = wrong;
            let mut decoded = vec![1.0; 512];
            blocks.decode(&encoded(blocks, &numbers), &mut decoded);
            for (i, x) in decoded.into_iter().enumerate() {
                let same_block = i / blocks.count() == 300 / blocks.count();
                assert_eq!(x.is_nan(), same_block, "{}: {x} at {i}", blocks.name());
            }
        }
        // Numbers at the ends of float32 do not end the program.
        for x in [f32::MAX, f32::MIN_POSITIVE, 1e-45] {
            encoded(blocks, &[[x; 128], [-x; 128]].concat());
        }
    }
}

#[test]
fn codes_with_offsets_are_not_negative() {
    let mut seed = 1u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    for &blocks in Blocks::ALL {
        let mut unpacked = Unpacked::new();
        for _ in 0..100 {
            let block: Vec<u8> = (0..blocks.bytes()).map(|_| random()).collect();
            blocks.unpack(&block, &mut unpacked);
            for (k, code) in unpacked.codes[..blocks.count()].iter().enumerate() {
                assert!(unpacked.offsets[k / GROUP] == 0.0 || *code >= 0, "{}", blocks.name());
            }
        }
    }
}
