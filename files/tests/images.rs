//! PNG, PGM and PPM. Pillow wrote the files and read the expected samples.

mod expected;

use expected::{check, file, metadata, open, refused, rewritten, storages, tensor, values};
use thorn_files::{Element, Format, Kind, Save};

#[test]
fn samples_are_those_of_pillow() {
    for (name, expected) in values("images")[""].as_object().unwrap() {
        let bytes = file(&format!("images/{name}"));
        let contents = open(&bytes);
        assert_eq!(contents.format, if name.ends_with(".png") { Format::Png } else { Format::Pnm }, "{name}");
        check(&contents, &bytes, "", expected);
        // Files with a plain raster can be mapped.
        assert_eq!(contents.storages[0].encoding.plain().is_some(), ["gray.pgm", "rgb.ppm"].contains(&name.as_str()), "{name}");
    }
}

#[test]
fn texts_are_metadata() {
    let contents = open(&file("images/gray.png"));
    assert_eq!(metadata(&contents, "Title"), Some("a text"));
    assert_eq!(metadata(&contents, "Long"), Some(&*"many words, ".repeat(100)));
    assert_eq!(metadata(&contents, "Comment"), Some("ü, compressed"));
    assert_eq!(metadata(&open(&file("images/sixteen.pgm")), "maxval"), Some("65535"));
}

#[test]
fn images_are_written_as_they_were_read() {
    for (name, expected) in values("images")[""].as_object().unwrap() {
        let bytes = file(&format!("images/{name}"));
        let contents = open(&bytes);
        for format in [Format::Png, Format::Pnm] {
            let written = rewritten(&contents, &bytes, format);
            let channels = tensor(&contents, "").sizes.get(2).copied();
            if contents.storages[0].element == Element::I32 || (format == Format::Pnm && channels.is_some_and(|channels| channels != 3)) {
                assert_eq!(written.unwrap_err().kind, Kind::Unsupported);
                continue;
            }
            let written = written.unwrap();
            let again = open(&written);
            check(&again, &written, "", expected);
            if format == Format::Png {
                let sorted = |metadata: &[(String, String)]| {
                    let mut metadata = metadata.to_vec();
                    metadata.sort();
                    metadata
                };
                assert_eq!(sorted(&again.metadata), sorted(&contents.metadata), "{name}");
            }
        }
    }
}

#[test]
fn the_greatest_value_is_kept() {
    let bytes = b"P2\n2 1 15\n3 15\n".to_vec();
    let contents = open(&bytes);
    assert_eq!(storages(&contents, &bytes), [(Element::U8, vec![3, 15])]);
    assert_eq!(rewritten(&contents, &bytes, Format::Pnm).unwrap(), b"P5\n2 1\n15\n\x03\x0f");
}

#[test]
fn what_is_no_image_is_not_written() {
    let bytes = [0u8; 24];
    for (sizes, element, message) in [
        (vec![2, 3, 4], Element::U8, "PNM files have uint8 tensors of height x width or height x width x 3, not uint8 of [2, 3, 4]"),
        (vec![2, 3], Element::F32, "PNM files have uint8 tensors of height x width or height x width x 3, not float32 of [2, 3]"),
        (vec![0, 3], Element::U8, "PNM files have uint8 tensors of height x width or height x width x 3, not uint8 of [0, 3]"),
    ] {
        let tensors = [thorn_files::Tensor::row_major(String::new(), sizes, 0).unwrap()];
        let what = Save { tensors: &tensors, sparse: &[], storages: &[(element, &bytes)], metadata: &[], precision: None };
        let error = thorn_files::save(Format::Pnm, &what, &mut std::io::Cursor::new(Vec::new())).unwrap_err();
        assert_eq!(error.message, message);
    }
}

#[test]
fn broken_images_are_refused() {
    let cases: [(&[u8], &str); 9] = [
        (b"P5 3 3 255\n12345678", "PNM: byte 11: the file ends early: 9 bytes are expected, 8 are left"),
        (b"P5 1 1 255x1", "PNM: byte 10: a space is expected before the samples"),
        (b"P5 3 0 255\n", "PNM: byte 5: a number from 1 to 2147483647 is expected"),
        (b"P5 3 1 65536\n", "PNM: byte 7: a number from 1 to 65535 is expected"),
        (b"P5 3", "PNM: byte 4: the file ends early: a number is expected"),
        (b"P6 2147483647 2147483647 255\n", "PNM: sizes [2147483647, 2147483647, 3] have more than 2^63 elements"),
        (b"P2 1000 1000 255\n1 2", "PNM: byte 16: the file ends early: 1000000 samples are expected"),
        (b"P2 2 1 255\n1 256", "PNM: byte 13: a number from 0 to 255 is expected"),
        (b"P2 2 1 255\n1 x", "PNM: byte 13: a number from 0 to 255 is expected"),
    ];
    for (bytes, message) in cases {
        assert_eq!(refused(bytes), message);
    }
}

/// Corrects the checksums of the chunks of a PNG file.
fn with_checksums(bytes: &mut [u8]) {
    let mut at = 8;
    while let Some(len) = bytes.get(at..at + 4) {
        let end = at + 8 + u32::from_be_bytes(len.try_into().unwrap()) as usize;
        let Some(chunk) = bytes.get(at + 4..end) else { return };
        let crc = chunk.iter().fold(!0u32, |crc, &byte| {
            (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
        });
        let Some(to) = bytes.get_mut(end..end + 4) else { return };
        to.copy_from_slice(&(!crc).to_be_bytes());
        at = end + 4;
    }
}

/// Very many texts before the pixels, whose list would be large.
#[test]
fn too_many_texts_are_left_out() {
    let whole = file("images/gray.png");
    let text = b"\0\0\0\x03tEXta\0b\0\0\0\0";
    for (count, expected) in [(100, 103), (20_000, 0)] {
        let mut bytes = whole.clone();
        bytes.splice(33..33, text.repeat(count));
        with_checksums(&mut bytes);
        let contents = open(&bytes);
        assert_eq!(contents.metadata.len(), expected);
        check(&contents, &bytes, "", &values("images")[""]["gray.png"]);
    }
}

/// Files with wrong checksums are refused early. Files with correct checksums reach the decoder.
#[test]
fn broken_chunks_are_refused_or_read() {
    let mut random = 1u64;
    let mut next = |end: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % end as u64) as usize
    };
    let (mut opened, mut decoded) = (0, 0);
    for name in ["gray", "rgba", "palette_clear", "bits", "sixteen", "interlaced", "clear"] {
        let whole = file(&format!("images/{name}.png"));
        for _ in 0..3000 {
            let mut bytes = whole.clone();
            for _ in 0..1 + next(3) {
                let at = 8 + next(bytes.len() - 8);
                bytes[at] = if next(2) == 0 { next(256) as u8 } else { bytes[at] ^ 1 << next(8) };
            }
            with_checksums(&mut bytes);
            let Ok(contents) = thorn_files::open(&bytes) else { continue };
            opened += 1;
            let mut to = vec![0; contents.storages[0].bytes().unwrap()];
            decoded += usize::from(contents.read(&bytes, 0, &mut to).is_ok());
        }
    }
    println!("{opened} files were opened, {decoded} decoded");
    assert!(decoded > 100);
}

/// A file that declares more pixels than it can hold is refused without allocating them.
#[test]
fn large_declared_sizes_are_refused() {
    let mut bytes = file("images/rgb.png");
    bytes[20..24].copy_from_slice(&[0x7f, 255, 255, 255]);
    with_checksums(&mut bytes);
    assert_eq!(refused(&bytes), format!("PNG: {} bytes cannot hold an image of 2147483647 x 7 pixels", bytes.len()));
    bytes[16..20].copy_from_slice(&[0x7f, 255, 255, 255]);
    with_checksums(&mut bytes);
    assert_eq!(refused(&bytes), "PNG: the image is 2147483647 pixels wide, and images of at most 262144 are supported");
    // Missing rows are noticed when the pixels are read.
    bytes = file("images/rgb.png");
    bytes[23] = 6;
    with_checksums(&mut bytes);
    let contents = open(&bytes);
    let error = contents.read(&bytes, 0, &mut [0; 6 * 7 * 3]).unwrap_err();
    assert_eq!(error.kind, Kind::Format);
    assert!(error.message.starts_with("byte "), "{error}");
}

#[test]
fn bitmaps_are_refused() {
    for text in ["P1\n# a comment\n2 2\n0 1\n1 0\n", "P4\n8 1\n\u{1}"] {
        let message = thorn_files::open(&text.as_bytes().to_vec()).unwrap_err().message;
        assert_eq!(message, "PNM: PBM images, of one bit, are not read: convert the file to PGM first");
    }
}
