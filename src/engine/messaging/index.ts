/** The entrance of the messages between agents and of child agents. */
export { type Messaging, ONLY_A_PERSON, openMessaging } from './messaging.ts';
