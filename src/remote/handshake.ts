/** How both sides of a socket begin: who they are and which version they speak. Read by hand: a thread needs it, and no more. */
import { isAgentId, isSessionId } from '../domain/text/id-shapes.ts';
import type { AgentId, SessionId } from '../domain/ids.ts';
import { isRecord } from './lines.ts';

/** Raised when an older client would misunderstand what is said. */
export const PROTOCOL = 1;

/** The first line of who serves. `as`: who the client is there, by the socket it knocked at; null for the person. */
export interface ServerHello {
  readonly mimir: 'control';
  readonly protocol: number;
  readonly session: SessionId;
  readonly as: AgentId | null;
}

/** The first line of a client. Connections with the same `client` are one client; it says nothing of who it is. */
export interface ClientHello {
  readonly mimir: 'control';
  readonly protocol: number;
  readonly client?: string;
}

/** Longest name of a client. */
const LONGEST_NAME = 64;

/** What a server's first line says, or why it can't be talked to. */
export function readServerHello(line: Readonly<Record<string, unknown>> | null): ServerHello | string {
  if (line === null || line['mimir'] !== 'control' || typeof line['protocol'] !== 'number') {
    return refusal(line) ?? 'what listens there is not Mimir';
  }
  if (line['protocol'] !== PROTOCOL) return otherVersion('the process there', line['protocol']);
  const { session, as } = line;
  if (isSessionId(session) && (as === null || isAgentId(as)))
    return { mimir: 'control', protocol: PROTOCOL, session, as };
  return 'what listens there does not say whose run it carries';
}

/** What a client's first line says, or why it is not let in. */
export function readClientHello(line: Readonly<Record<string, unknown>> | null): ClientHello | string {
  if (line === null || line['mimir'] !== 'control' || typeof line['protocol'] !== 'number') {
    return `the first line must be {"mimir":"control","protocol":${PROTOCOL}}`;
  }
  if (line['protocol'] !== PROTOCOL) return otherVersion('you', line['protocol']);
  const { client } = line;
  if (client === undefined) return { mimir: 'control', protocol: PROTOCOL };
  if (typeof client !== 'string' || client.length > LONGEST_NAME) return 'a client is named in up to 64 characters';
  return { mimir: 'control', protocol: PROTOCOL, client };
}

/** The words of a `{"bye":…}` line, or null. */
export const refusal = (line: unknown): string | null =>
  isRecord(line) && typeof line['bye'] === 'string' ? line['bye'] : null;

const otherVersion = (who: string, version: number): string =>
  `${who} speak${who === 'you' ? '' : 's'} version ${version} of the protocol, this Mimir ${PROTOCOL}: use one Mimir for both`;
