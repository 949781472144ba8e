/** Where the program that tests run keeps what Node compiled of it: once for all of them, not anew in each test's own folders. */
import { join } from 'node:path';

/** For `XDG_CACHE_HOME`, and `NODE_COMPILE_CACHE` of our own programs. Node compares contents before it uses anything of it. */
export const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/mimir-tests');
