//! Round trips, summed up.

#[derive(Default)]
pub(crate) struct Quantiles {
    pub(crate) min: f64,
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
    pub(crate) mean: f64,
    pub(crate) hist: Vec<(u64, u64)>,
}

impl Quantiles {
    pub(crate) fn of(ns: &mut [u64]) -> Self {
        if ns.is_empty() {
            return Self::default();
        }
        ns.sort_unstable();
        let at = |q: f64| {
            ns[((ns.len() as f64 * q).ceil() as usize).clamp(1, ns.len()) - 1] as f64 / 1000.0
        };
        // Log-spaced buckets (4 % wide) so that several agents can be merged.
        let mut hist: Vec<(u64, u64)> = Vec::new();
        for &v in ns.iter() {
            let b = ((v.max(1000) as f64 / 1000.0).ln() / 1.04f64.ln()) as u64;
            match hist.last_mut() {
                Some(l) if l.0 == b => l.1 += 1,
                _ => hist.push((b, 1)),
            }
        }
        Quantiles {
            min: ns[0] as f64 / 1000.0,
            p50: at(0.50),
            p90: at(0.90),
            p99: at(0.99),
            max: ns[ns.len() - 1] as f64 / 1000.0,
            mean: ns.iter().sum::<u64>() as f64 / ns.len() as f64 / 1000.0,
            hist,
        }
    }
}
