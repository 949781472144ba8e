/** What a program that is started gets of descriptors: its own three, the sandbox's one, and nothing that Mimir inherited. */
import { openSync, readdirSync, readFileSync } from 'node:fs';

/**
 * By number, for `spawn`: input if there is some, two pipes, and a pipe for what the sandbox tells. A descriptor that this
 * process itself inherited would go on to every child: in the child each such one is of nothing.
 */
export function descriptors(program: {
  readonly input?: string;
  readonly boxed?: boolean;
}): readonly ('ignore' | 'pipe' | number)[] {
  const input = program.input === undefined ? 'ignore' : 'pipe';
  const own = [input, 'pipe', 'pipe', ...(program.boxed === true ? (['pipe'] as const) : [])] as const;
  const leaks = inherited();
  if (leaks.length === 0) return own;
  const length = Math.max(own.length, ...leaks.map((number) => number + 1));
  return Array.from({ length }, (_, number) => own[number] ?? (leaks.includes(number) ? ofNothing() : 'ignore'));
}

let nothing: number | null = null;

/** Open for the whole process: "ignore" leaves a number above 2 as it is. */
function ofNothing(): number {
  nothing ??= openSync('/dev/null', 'r+');
  return nothing;
}

/** A line of a shell that closes those of nothing as well, so that a program sees none of them; empty where there are none. */
export const closingInherited = (): string =>
  inherited()
    .map((number) => `exec ${number}>&-; `)
    .join('');

/** Descriptors that stay open when a child is started; none where /proc does not tell. */
function inherited(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((number) => number > 2 && staysOpen(number));
  } catch {
    return [];
  }
}

const CLOSE_ON_EXEC = 0o2_000_000;

function staysOpen(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // Closed meanwhile, as the descriptor of this very look is.
    return false;
  }
}
