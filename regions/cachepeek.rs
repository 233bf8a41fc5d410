// SPDX-License-Identifier: MIT

//! Regions for libcachepeek in Rust.
//!
//!     mod cachepeek;
//!
//!     let sum = cachepeek::region("sum", || numbers.iter().sum::<u64>());
//!
//! Without the preloaded library nothing of this happens.  A region belongs to the thread
//! that enters it; it ends where the closure ends, also with a panic.
#![allow(dead_code)]

use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_void};

/// struct cachepeek_api of cachepeek.h
#[repr(C)]
struct Api {
    size: usize,
    region_register: extern "C" fn(*const c_char) -> *const c_void,
    begin: extern "C" fn(*const c_void),
    end: extern "C" fn(*const c_void),
    read: extern "C" fn(*const c_char, *mut u64) -> c_int,
    pause: extern "C" fn(),
    resume: extern "C" fn(),
    flush: extern "C" fn(),
    begin_named: extern "C" fn(*const c_char),
    end_named: extern "C" fn(*const c_char),
}

extern "C" {
    fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
}

/// The library's table, if it is there and has what we use.
fn api() -> Option<&'static Api> {
    // A handle of 0 is RTLD_DEFAULT.  The table is never freed, nor changed.
    let found = unsafe {
        let name = b"cachepeek_api_1\0".as_ptr() as *const c_char;
        (dlsym(std::ptr::null_mut(), name) as *const Api).as_ref()
    };
    found.filter(|api| api.size >= std::mem::size_of::<Api>())
}

/// A name ends where a C string does.
fn text(name: &str) -> CString {
    CString::new(name.split('\0').next().unwrap_or("")).unwrap_or_default()
}

/// Enters a region; `end` leaves it, on the same thread.
pub fn begin(name: &str) {
    if let Some(api) = api() {
        (api.begin_named)(text(name).as_ptr());
    }
}

pub fn end(name: &str) {
    if let Some(api) = api() {
        (api.end_named)(text(name).as_ptr());
    }
}

struct Open<'a>(&'a str);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        end(self.0);
    }
}

/// Runs a closure as a region of that name.
pub fn region<T>(name: &str, inside: impl FnOnce() -> T) -> T {
    begin(name);
    let _open = Open(name);
    inside()
}
