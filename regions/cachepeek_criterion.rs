// SPDX-License-Identifier: MIT

//! Benchmarks of Criterion.rs as regions, each by its name.  cachepeek.rs lies beside this
//! file; in the benchmark:
//!
//!     #[path = "cachepeek/cachepeek_criterion.rs"]
//!     mod cachepeek_criterion;
//!
//!     criterion_group! {
//!         name = benches;
//!         config = Criterion::default().with_profiler(cachepeek_criterion::Regions);
//!         targets = bench_sort
//!     }
//!
//! Criterion asks its profiler only when it is told --profile-time.

use criterion::profiler::Profiler;
use std::path::Path;

#[path = "cachepeek.rs"]
pub mod cachepeek;

pub struct Regions;

impl Profiler for Regions {
    fn start_profiling(&mut self, id: &str, _directory: &Path) {
        cachepeek::begin(id);
    }

    fn stop_profiling(&mut self, id: &str, _directory: &Path) {
        cachepeek::end(id);
    }
}
