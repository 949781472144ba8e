/** Which names in a role file give commits, and to whom. */
import { describe, expect, it } from 'vitest';
import { readRole } from '../../../src/config/roles/role-file.ts';

const capabilities = (name: string, tools: string, commits: boolean): readonly string[] => {
  const text = `---\nname: ${name}\ndescription: d\ntools: ${tools}\n---\nDo it.\n`;
  const file = `${name}.md`;
  const read = readRole({ file, stem: name, kind: 'md', text, source: file, ...(commits ? { commits: true } : {}) });
  if (!read.ok) throw new Error(JSON.stringify(read.fault));
  return read.value.role.capabilities;
};

describe('commits', () => {
  it("are the root's by its git tool, and another role's only by their name in a file of the user or an organisation", () => {
    expect([
      capabilities('main', '[git]', false),
      capabilities('releaser', '[git_commit]', true),
      capabilities('releaser', '[git]', true),
      capabilities('releaser', '["*"]', true),
      capabilities('releaser', '[read_file, git_commit]', false),
    ]).toEqual([
      ['git-read', 'git-write'],
      ['git-write'],
      ['git-read'],
      ['read', 'write', 'shell', 'git-read'],
      ['read'],
    ]);
  });
});
