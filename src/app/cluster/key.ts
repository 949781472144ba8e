/** The key with which a person signs the steps of runs, because every worker can write to the database. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../../domain/result.ts';

/** The person's key in the state folder, made where there is none; readable only by its owner. Throws an error of the file system. */
export function signingKey(stateDir: string): KeyObject {
  const file = path.join(stateDir, 'cluster-key.pem');
  if (!existsSync(file)) make(file);
  return createPrivateKey(readFileSync(file));
}

function make(file: string): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
