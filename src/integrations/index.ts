/** The entrance of the integrations: services outside of this machine that hear of a run. */
export { type Notice, type Notifier, openNotifier, type Target } from './notify/notifier.ts';
