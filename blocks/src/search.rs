//! The searches of ggml for scales with small errors. A search tries several scales around the one that the greatest number suggests, and
//! computes the best scale for the codes of each by least squares.

/// Numbers of smaller magnitude become 0.
pub const LEAST: f32 = 1e-15;

/// Returns the integer that is nearest to `x`, the even one of two. Numbers of magnitude 2^22 or more may become another large number.
#[inline(always)]
pub fn nearest(x: f32) -> f32 {
    // Floats from 2^23 to 2^24 are the integers. The sum is among these floats for negative numbers, too.
    const SHIFT: f32 = 12_582_912.0;
    x + SHIFT - SHIFT
}

/// The scales that [`pairs_of_scales`] tries: the range is divided into `most + first`, `most + first + 0.1`, ... parts.
#[derive(Clone, Copy)]
pub struct Ends {
    /// The least number of parts, less the greatest code.
    pub first: f32,
    /// The number of steps.
    pub steps: usize,
}

/// Returns a scale and a smallest value, whose sign is inverted, for codes from 0 to `most`. Larger numbers have larger weights.
pub fn pairs_of_scales(numbers: &[f32], most: u8, ends: Ends) -> (f32, f32) {
    let squares = numbers.iter().fold(0f32, |sum, x| sum + x * x);
    let average = (squares / numbers.len() as f32).sqrt();
    let weight = |x: f32| average + x.abs();
    let (mut least, mut greatest) = (numbers[0], numbers[0]);
    for &x in numbers {
        least = if x < least { x } else { least };
        greatest = if x > greatest { x } else { greatest };
    }
    least = least.min(0.0);
    if greatest == least {
        return (0.0, -least);
    }
    let (mut of_w, mut of_x) = (weight(numbers[0]), weight(numbers[0]) * numbers[0]);
    for &x in &numbers[1..] {
        of_w += weight(x);
        of_x += weight(x) * x;
    }
    let code = |x: f32, parts: f32, start: f32| nearest(parts * (x - start)).clamp(0.0, f32::from(most));
    let error = |parts: f32, start: f32, scale: f32, least: f32| {
        numbers.iter().fold(0f32, |sum, &x| {
            let difference = scale * code(x, parts, start) + least - x;
            sum + weight(x) * (difference * difference)
        })
    };
    let parts = f32::from(most) / (greatest - least);
    let mut scale = 1.0 / parts;
    let mut best = error(parts, least, scale, least);
    for step in 0..=ends.steps {
        // Codes count from the best smallest value up to here.
        let (start, parts) = (least, (ends.first + 0.1 * step as f32 + f32::from(most)) / (greatest - least));
        let (mut of_l, mut of_ll, mut of_xl) = (0f32, 0f32, 0f32);
        for &x in numbers {
            let (l, w) = (code(x, parts, start), weight(x));
            of_l += w * l;
            of_ll += w * l * l;
            of_xl += w * l * x;
        }
        let determinant = of_w * of_ll - of_l * of_l;
        if determinant > 0.0 {
            let mut tried = ((of_w * of_xl - of_x * of_l) / determinant, (of_ll * of_x - of_l * of_xl) / determinant);
            if tried.1 > 0.0 {
                tried = (of_xl / of_ll, 0.0);
            }
            let error = error(parts, start, tried.0, tried.1);
            if error < best {
                (best, scale, least) = (error, tried.0, tried.1);
            }
        }
    }
    (scale, -least)
}

/// Returns a scale for codes from `-most` to `most - 1`. A number has its square as its weight.
pub fn signed_scale(numbers: &[f32], most: u8) -> f32 {
    let greatest = numbers.iter().fold(0f32, |most, &x| if x.abs() > most.abs() { x } else { most });
    if greatest.abs() < LEAST {
        return 0.0;
    }
    let most = f32::from(most);
    let sums = |parts: f32| {
        numbers.iter().fold((0f32, 0f32), |(of_xl, of_ll), &x| {
            let l = nearest(parts * x).clamp(-most, most - 1.0);
            let w = x * x;
            (of_xl + w * x * l, of_ll + w * l * l)
        })
    };
    let (of_xl, of_ll) = sums(-most / greatest);
    let mut scale = if of_ll == 0.0 { 0.0 } else { of_xl / of_ll };
    let mut best = scale * of_xl;
    for step in (-9..=9).filter(|&step| step != 0) {
        let (of_xl, of_ll) = sums(-(most + 0.1 * step as f32) / greatest);
        if of_ll > 0.0 && of_xl * of_xl > best * of_ll {
            scale = of_xl / of_ll;
            best = scale * of_xl;
        }
    }
    scale
}
