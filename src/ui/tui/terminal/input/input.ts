/** Listens to the terminal and hands on inputs; decides by time whether a lone ESC was the key. Pastes are sanitised here. */
import { toTerminal } from '../../../../app/views/text/sanitise.ts';
import type { Input } from '../terminal.ts';
import { type Token, Tokenizer } from './tokenizer.ts';

export interface InputParts {
  onInput(input: Input): void;
  /** Answers to our queries. */
  onReply(text: string): void;
  /** The terminal is gone. */
  onEnd(): void;
}

/** Keys come as soon as they are read; a lone ESC after this many milliseconds. */
const ESC_TIME = 30;
/** A sequence or a paste that stops in the middle is given up after this. */
const BROKEN_TIME = 1000;

/** Starts reading; the function that comes back stops. */
export function listen(stream: NodeJS.ReadStream, parts: InputParts): () => void {
  const tokenizer = new Tokenizer();
  let timer: NodeJS.Timeout | undefined;
  const emit = (tokens: readonly Token[]): void => {
    for (const token of tokens) {
      if (token.is === 'reply') parts.onReply(token.text);
      else parts.onInput(token.is === 'paste' ? { is: 'paste', text: toTerminal(token.text) } : token);
    }
  };
  const giveUp = (): void => {
    emit(tokenizer.giveUp());
  };
  const flush = (): void => {
    emit(tokenizer.flush());
    if (tokenizer.waits) timer = setTimeout(giveUp, BROKEN_TIME);
  };
  const read = (chunk: Uint8Array): void => {
    clearTimeout(timer);
    emit(tokenizer.push(chunk));
    if (tokenizer.waits) timer = setTimeout(flush, ESC_TIME);
  };
  const end = (): void => {
    parts.onEnd();
  };
  stream.on('data', read);
  stream.on('end', end);
  stream.on('error', end);
  stream.resume();
  return () => {
    clearTimeout(timer);
    stream.off('data', read);
    stream.off('end', end);
    stream.off('error', end);
    // Errors of a terminal that goes away after us are nobody's concern.
    stream.on('error', () => {});
    stream.pause();
  };
}
