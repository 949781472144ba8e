/** What the analyst says of small projects, line by line. */
import { expect, onTestFinished } from 'vitest';
import { carry } from './carry.ts';
import { type Files, folderOf, untrue } from './folders.ts';

/** The rows and sentences that the analyst says of `files`; each quote in them is looked up. */
export async function linesOn(files: Files, task: string): Promise<readonly string[]> {
  const folder = folderOf(files);
  onTestFinished(() => folder.remove());
  const { answer } = await carry({ root: folder.root, role: 'main', task });
  expect(untrue(folder.root, answer)).toEqual([]);
  return answer.split('\n');
}

/** What is below a heading. */
export const below = (lines: readonly string[], heading: string): readonly string[] => {
  const rest = lines.slice(lines.indexOf(`## ${heading}`) + 2);
  return lines.includes(`## ${heading}`) ? rest.slice(0, rest.indexOf('') === -1 ? undefined : rest.indexOf('')) : [];
};

export const RUBY: Files = {
  'lib/tea.rb': "require_relative 'tea/leaf'\n\nmodule Tea\n  def self.brew(leaf)\n    leaf.steep\n  end\nend\n",
  'lib/tea/leaf.rb': 'module Tea\n  class Leaf\n    def steep\n      2\n    end\n  end\nend\n',
};
export const PHP: Files = {
  'src/Tea.php':
    '<?php\nnamespace Shop;\n\nuse Shop\\Leaf\\GreenTest;\n\nfinal class Tea\n{\n    public function brew(GreenTest $leaf): int\n    {\n        return $leaf->steep();\n    }\n}\n',
  'src/Leaf/GreenTest.php':
    '<?php\nnamespace Shop\\Leaf;\n\nclass GreenTest\n{\n    public static function steep(): int\n    {\n        return 2;\n    }\n}\n',
  'tests/TeaTest.php': '<?php\nuse Shop\\Tea;\n\nclass TeaTest {}\n',
};
export const CSHARP: Files = {
  'src/Tea.cs':
    'using Shop.Leaves;\n\nnamespace Shop\n{\n    public sealed class Tea\n    {\n        public int Brew(Leaf leaf) => leaf.Steep();\n    }\n}\n',
  'src/Leaf.cs':
    'namespace Shop.Leaves\n{\n    public class Leaf\n    {\n        public virtual int Steep()\n        {\n            return 2;\n        }\n    }\n}\n',
};
export const SHELL: Files = {
  'brew.sh': '#!/bin/bash\nsource lib/leaf.sh\nsteep 2\n',
  'lib/leaf.sh': 'steep() {\n  echo "$1"\n}\n',
};
