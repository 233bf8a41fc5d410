// SPDX-License-Identifier: MIT

import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;

/**
 * Regions for libcachepeek in Java, through JNA.
 *
 *     Cachepeek.begin("solve");
 *     try { ... } finally { Cachepeek.end("solve"); }
 *
 * Without the preloaded library nothing of this happens.  A region belongs to the thread
 * that enters it.
 */
public final class Cachepeek {
    /* struct cachepeek_api of cachepeek.h: its size, and pointers to functions. */
    private static final int BEGIN_NAMED = 8, END_NAMED = 9, MEMBERS = 10;
    private static final Pointer api = find();
    private static final Function begin = member(BEGIN_NAMED), end = member(END_NAMED);

    private Cachepeek() {}

    private static Pointer find() {
        try {
            Pointer found = NativeLibrary.getProcess().getGlobalVariableAddress("cachepeek_api_1");
            return found.getInt(0) >= MEMBERS * Native.POINTER_SIZE ? found : null;
        } catch (UnsatisfiedLinkError absent) {
            return null;
        }
    }

    private static Function member(int number) {
        return api == null ? null
            : Function.getFunction(api.getPointer((long) number * Native.POINTER_SIZE));
    }

    /* Whatever the locale is. */
    private static byte[] text(String name) {
        return (name + "\0").getBytes(StandardCharsets.UTF_8);
    }

    public static void begin(String name) {
        if (begin != null)
            begin.invokeVoid(new Object[] {text(name)});
    }

    public static void end(String name) {
        if (end != null)
            end.invokeVoid(new Object[] {text(name)});
    }
}
