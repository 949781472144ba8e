/** Questions as chats and phones get them. */
import type { ChatQuestion } from '../../src/integrations/index.ts';

/** One that may be allowed once, denied, or answered in words. */
export const question = (id: string, text = `may I run ${id}?`): ChatQuestion => ({
  id,
  text,
  choices: [
    { key: '1', label: 'allow once', allows: true },
    { key: '4', label: 'deny', allows: false },
  ],
  takesWords: true,
  about: null,
});
