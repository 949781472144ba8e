/** The entrance of the integrations: agents of other programs, and services outside of this machine that hear of a run. */
export { type AgentProcess } from './acp/connection.ts';
export { openProxy, type Proxy } from './acp/proxy.ts';
export { foreignModels, type ForeignModels } from './acp/provider.ts';
export { type Chat, type ChatQuestion, type ChatRight, openTelegram, type Telegram } from './notify/telegram.ts';
export { type Notice, type Notifier, openNotifier, type Target } from './notify/notifier.ts';
