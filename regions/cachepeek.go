// SPDX-License-Identifier: MIT

// Package cachepeek marks regions for libcachepeek in programs built with cgo.
//
//	func BenchmarkSort(b *testing.B) {
//		cachepeek.Region(b.Name(), func() {
//			for i := 0; i < b.N; i++ {
//				...
//			}
//		})
//	}
//
// Without the preloaded library nothing of this happens.  CGO_CFLAGS names the directory of
// cachepeek.h, if the compiler does not find it.
package cachepeek

/*
#include <cachepeek.h>
#include <stdlib.h>

static void begin(const char *name) { cachepeek_begin_named(name); }
static void end(const char *name) { cachepeek_end_named(name); }
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Region runs f as a region of that name.  A region belongs to a thread, which the goroutine
// keeps meanwhile; goroutines that f starts are not in it.
func Region(name string, f func()) {
	text := C.CString(name)
	runtime.LockOSThread()
	C.begin(text)
	defer func() {
		C.end(text)
		runtime.UnlockOSThread()
		C.free(unsafe.Pointer(text))
	}()
	f()
}
