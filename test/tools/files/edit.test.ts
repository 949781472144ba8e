/** Editing and writing, on real files: what is refused, what is shown, what is on disk afterwards. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/tools/files/replace-file.ts';
import { makeFolder, makeRepository, writeFiles } from '../../support/repos.ts';
import { applied } from '../applied.ts';
import { agent, workbench } from '../workbench.ts';

describe('edit_file and write_file', () => {
  const code = 'const a = 1;\nconst b = 1;\n';
  const diff = '--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n-const a = 1;\n+const a = 2;\n const b = 1;';

  it('replaces the one match, shows the diff, and needs no reading again', async () => {
    const folder = makeFolder({ 'a.ts': code });
    const tools = workbench(folder);
    await tools.use('read_file', { path: 'a.ts' });
    const edit = { path: 'a.ts', old_text: 'a = 1', new_text: 'a = 2' };
    expect(await tools.preview('edit_file', edit)).toBe(diff);
    const after = code.replace('a = 1', 'a = 2');
    expect(await tools.use('edit_file', edit)).toEqual({
      ok: true,
      text: `a.ts: +1 -1 lines, digest now ${digestOf(after)}\n${diff}`,
    });
    expect(readFileSync(path.join(folder, 'a.ts'), 'utf8')).toBe(after);
    expect((await tools.use('edit_file', { ...edit, old_text: 'a = 2', new_text: 'a = 3' })).ok).toBe(true);
  });

  it('refuses text that occurs not at all or more than once, and says where', async () => {
    const tools = workbench(makeFolder({ 'a.ts': code, 'w.txt': 'x\r\ny\r\n' }));
    await tools.use('read_file', { path: 'a.ts' });
    await tools.use('read_file', { path: 'w.txt' });
    const edit = async (old_text: string, name = 'a.ts') =>
      (await tools.use('edit_file', { path: name, old_text, new_text: 'new' })).text;
    expect(await edit('= 1')).toBe('a.ts: old_text occurs 2 times (lines 1, 2); add surrounding lines, or set all');
    expect(await edit('nothing like it')).toBe('a.ts: old_text is not in the file; read it again');
    expect(await edit('  const b = 1;')).toContain('line 2 resembles its first line');
    expect(await edit('x\ny', 'w.txt')).toContain(String.raw`its lines end in \r\n`);
    expect((await tools.use('edit_file', { path: 'a.ts', old_text: '= 1', new_text: '= $&', all: true })).ok).toBe(
      true,
    );
    expect((await tools.use('read_file', { path: 'a.ts' })).text).toContain('const a = $&;');
  });

  it('C11 refuses an edit of what the agent has not read, or of what has changed since', async () => {
    const folder = makeFolder({ 'a.ts': code });
    const tools = workbench(folder);
    const edit = { path: 'a.ts', old_text: 'a = 1', new_text: 'a = 2' };
    expect((await tools.use('edit_file', edit)).text).toBe('a.ts: read it before you edit it');
    await tools.use('read_file', { path: 'a.ts' });
    expect((await tools.use('edit_file', edit, { agent: agent('ROOT::S1') })).ok).toBe(false);
    writeFiles(folder, { 'a.ts': `${code}// more\n` });
    expect((await tools.use('edit_file', edit)).text).toBe(
      `a.ts: has changed since it was read (expected digest ${digestOf(code)}, now ${digestOf(`${code}// more\n`)}); read it again`,
    );
    expect((await tools.use('edit_file', { ...edit, digest: digestOf(`${code}// more\n`) })).ok).toBe(true);
  });

  it('makes a new file, and replaces one only by its digest', async () => {
    const folder = makeFolder({ 'old.txt': 'old\n' });
    const tools = workbench(folder);
    const made = await tools.use('write_file', { path: 'new/n.txt', content: 'new\n' });
    expect(made.text).toBe(
      `new/n.txt: +1 -0 lines, digest now ${digestOf('new\n')}\n--- /dev/null\n+++ b/new/n.txt\n@@ -0,0 +1 @@\n+new`,
    );
    const over = { path: 'old.txt', content: 'x\n' };
    expect((await tools.use('write_file', over)).text).toBe(
      `old.txt: exists; read it before you replace it (digest now: ${digestOf('old\n')})`,
    );
    expect(await tools.preview('write_file', over)).toContain('nobody is asked: old.txt: exists');
    expect((await tools.use('write_file', { ...over, digest: digestOf('old\n') })).ok).toBe(true);
    expect((await tools.use('write_file', { path: 'gone.txt', content: '', digest: 'x' })).ok).toBe(false);
  });

  it('show a diff that gives the new text when it is applied to the old one', async () => {
    const folder = makeFolder();
    const tools = workbench(folder);
    const piece = fc.constantFrom('a', 'b\n', '\n', ' c ', '$&', 'é', '😀\n');
    const text = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(text, text, text, async (head, tail, fresh) => {
        const before = `${head}<old>${tail}`;
        writeFileSync(path.join(folder, 'f'), before);
        const edit = { path: 'f', old_text: '<old>', new_text: fresh, digest: digestOf(before) };
        const previewed = await tools.preview('edit_file', edit);
        const { text, ok } = await tools.use('edit_file', edit);
        const after = readFileSync(path.join(folder, 'f'), 'utf8');
        expect({ ok, after }).toEqual({ ok: true, after: `${head}${fresh}${tail}` });
        expect(text.slice(text.indexOf('\n') + 1)).toBe(previewed);
        expect(applied(before, previewed)).toBe(after);
      }),
      { numRuns: 60 },
    );
  });

  it('C05 refuses protected files before anybody is asked', async () => {
    const tools = workbench(makeRepository());
    const write = { path: '.git/hooks/pre-commit', content: '#!/bin/sh\n' };
    expect(await tools.preview('write_file', write)).toBe(
      'nobody is asked: .git/hooks/pre-commit: .git is protected; agents never write there',
    );
    expect((await tools.use('write_file', write)).ok).toBe(false);
  });

  it('leaves bytes that are no UTF-8 text to commands', async () => {
    const folder = makeFolder({ 'latin1.txt': Buffer.from([0x61, 0xe9, 0x0a]), bin: Buffer.from([0, 1]) });
    const tools = workbench(folder);
    for (const name of ['latin1.txt', 'bin']) {
      await tools.use('read_file', { path: name });
      expect((await tools.use('edit_file', { path: name, old_text: 'a', new_text: 'b' })).ok).toBe(false);
    }
    expect(readFileSync(path.join(folder, 'latin1.txt'))).toEqual(Buffer.from([0x61, 0xe9, 0x0a]));
  });

  it('keeps a byte order mark and the mode', async () => {
    const folder = makeFolder({ 'run.sh': '\ufeffecho a\n' });
    chmodSync(path.join(folder, 'run.sh'), 0o755);
    const tools = workbench(folder);
    await tools.use('read_file', { path: 'run.sh' });
    await tools.use('edit_file', { path: 'run.sh', old_text: 'a\n', new_text: 'b\n' });
    expect(readFileSync(path.join(folder, 'run.sh'), 'utf8')).toBe('\ufeffecho b\n');
    expect(execFileSync('stat', ['-c', '%a', path.join(folder, 'run.sh')], { encoding: 'utf8' })).toBe('755\n');
  });

  it('of two writes at the same time lets one win and tells the other', async () => {
    const folder = makeFolder({ 'a.txt': '0\n' });
    const tools = workbench(folder);
    await tools.use('read_file', { path: 'a.txt' });
    mkdirSync(path.join(folder, 'n'));
    const fresh = await Promise.all(
      ['1', '2', '3'].map((content) => tools.use('write_file', { path: 'n/x', content })),
    );
    expect(fresh.filter(({ ok }) => ok)).toHaveLength(1);
  });
});
