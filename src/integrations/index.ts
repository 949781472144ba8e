/** The entrance of the integrations: agents of other programs, and services outside of this machine that hear of a run. */
import type { connect, Connection } from './acp/connection.ts';
import { ok, type Result } from '../domain/result.ts';
import type { TerminalOptions } from './tmux/connection.ts';
export { AgentSession } from './acp/session.ts';
export { openProxy, type Proxy } from './acp/proxy.ts';
export { foreignModels, type ForeignModels, type StartedAgent } from './acp/provider.ts';
export { type TerminalSettings } from './tmux/connection.ts';
export { COMPLETION_PHRASES } from './tmux/detection.ts';
export { type Chat, type ChatCommand, type ChatQuestion, type ChatRight, openTelegram } from './notify/telegram.ts';
export { type Telegram, type TelegramParts } from './notify/telegram.ts';
export { type Notice, type Notifier, openNotifier, type Target } from './notify/notifier.ts';

/** Connects to a program that speaks the Agent Client Protocol, which is loaded with the first one. */
export const connectAgent: typeof connect = async (options) => (await import('./acp/connection.ts')).connect(options);
/** Connects to a program in a terminal. */
export const connectInTerminal = async (options: TerminalOptions): Promise<Result<Connection, string>> =>
  ok((await import('./tmux/connection.ts')).connectTerminal(options));
