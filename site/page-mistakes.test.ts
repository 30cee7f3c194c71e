import { beforeAll, describe, expect, test } from 'vitest';
import { bodyLine, head, mistakes } from './testing/content-folder.ts';

/** Each case is one page; the mistake must be reported once, with its line and with the words. */
const cases: { name: string; page: string; line: number; says: string }[] = [
  {
    name: 'an unknown tag',
    page: `${head()}Text.\n\n{% nonsense /%}\n`,
    line: bodyLine + 2,
    says: "Undefined tag: 'nonsense'",
  },
  {
    name: 'a bad attribute',
    page: `${head()}{% hint kind="x" %}\nText.\n{% /hint %}\n`,
    line: bodyLine,
    says: "Invalid attribute: 'kind'",
  },
  {
    name: 'a value that is not allowed',
    page: `${head()}{% hint type="shout" %}\nText.\n{% /hint %}\n`,
    line: bodyLine,
    says: "Got 'shout' instead.",
  },
  { name: 'a tag that is not closed', page: `${head()}{% hint %}\nText.\n`, line: bodyLine, says: 'closing' },
  {
    name: 'a link to no page',
    page: `${head()}Text.\n\nSee [that](/docs/that).\n`,
    line: bodyLine + 2,
    says: 'there is no such page',
  },
  {
    name: 'a link to no anchor',
    page: `${head()}## One\n\n[two](#two)\n`,
    line: bodyLine + 2,
    says: 'it has one',
  },
  {
    name: 'a relative link',
    page: `${head()}[that](../that)\n`,
    line: bodyLine,
    says: 'neither an address from the root',
  },
  {
    name: 'a missing picture',
    page: `${head()}{% image src="no.png" alt="None" /%}\n`,
    line: bodyLine,
    says: '"no.png" does not exist',
  },
  {
    name: 'a picture without words for it',
    page: `${head()}{% image src="no.png" /%}\n`,
    line: bodyLine,
    says: "Missing required attribute: 'alt'",
  },
  {
    name: 'a code block without a language',
    page: `${head()}\`\`\`\nx\n\`\`\`\n`,
    line: bodyLine,
    says: 'names the language ""',
  },
  {
    name: 'a code block in an unknown language',
    page: `${head()}\`\`\`cobol\nx\n\`\`\`\n`,
    line: bodyLine,
    says: '"cobol"',
  },
  {
    name: 'an expectation on what is not run',
    page: `${head()}\`\`\`json {% expect="x" %}\n{}\n\`\`\`\n`,
    line: bodyLine,
    says: 'Only a bash block',
  },
  {
    name: 'output in another language than text',
    page: `${head()}\`\`\`json {% output=true %}\n{}\n\`\`\`\n`,
    line: bodyLine,
    says: 'A code block with "output" is text',
  },
  { name: 'a heading of level 1', page: `${head()}# One\n`, line: bodyLine, says: 'only the title has' },
  {
    name: 'a heading that skips a level',
    page: `${head()}### One\n`,
    line: bodyLine,
    says: 'follows no heading of level 2',
  },
  {
    name: 'an anchor used twice',
    page: `${head()}## One\n\n## One\n`,
    line: bodyLine + 2,
    says: 'is on this page already',
  },
  {
    name: 'one tab alone',
    page: `${head()}{% tabs group="a" %}\n{% tab label="A" %}\nText.\n{% /tab %}\n{% /tabs %}\n`,
    line: bodyLine,
    says: 'two or more',
  },
  {
    name: 'an operation that its path lacks',
    page: `${head()}## One\n\n{% swagger spec="cloud" method="patch" path="/v1/account" /%}\n`,
    line: bodyLine + 2,
    says: 'has no operation "patch /v1/account"; the path has get, put.',
  },
  {
    name: 'an operation of a path that is none',
    page: `${head()}## One\n\n{% swagger spec="marketplace" method="get" path="/v1/nothing" /%}\n`,
    line: bodyLine + 2,
    says: 'it has no such path',
  },
  {
    name: 'a tag of the API that is none',
    page: `${head()}{% swagger spec="cloud" tag="ruins" level=2 /%}\n`,
    line: bodyLine,
    says: 'no operation with the tag "ruins"; its tags are account',
  },
  {
    name: 'an operation named twice over',
    page: `${head()}{% swagger spec="cloud" tag="service" method="get" level=2 /%}\n`,
    line: bodyLine,
    says: 'has either "tag", or "method" and "path"',
  },
  {
    name: 'an operation named by half',
    page: `${head()}{% swagger spec="cloud" method="get" level=2 /%}\n`,
    line: bodyLine,
    says: 'needs "method" and "path"',
  },
  {
    name: 'an operation that is on the page already',
    page: `${head()}{% swagger spec="cloud" method="get" path="/healthz" level=2 /%}\n\n{% swagger spec="cloud" method="GET" path="/healthz" level=2 /%}\n`,
    line: bodyLine + 2,
    says: 'is on this page already',
  },
  {
    name: 'an operation of level 3 without one of level 2',
    page: `${head()}{% swagger spec="cloud" method="get" path="/healthz" /%}\n`,
    line: bodyLine,
    says: 'write level=2',
  },
  {
    name: 'an operation of level 4',
    page: `${head()}{% swagger spec="cloud" method="get" path="/healthz" level=4 /%}\n`,
    line: bodyLine,
    says: 'write 2 or 3',
  },
  {
    name: 'a link on a later line of a paragraph',
    page: `${head()}One line,\nanother, and\n[that](/docs/that).\n`,
    line: bodyLine + 2,
    says: 'there is no such page',
  },
  {
    name: 'a link in a list in a hint',
    page: `${head()}{% hint %}\n- One\n- [that](/docs/that)\n{% /hint %}\n`,
    line: bodyLine + 2,
    says: 'there is no such page',
  },
  {
    name: 'a link of a table',
    page: `${head()}| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | [that](/docs/that) |\n`,
    line: bodyLine + 3,
    says: 'there is no such page',
  },
  {
    name: 'a link to a file that is none',
    page: `${head()}[that](/openapi/clod.json)\n`,
    line: bodyLine,
    says: 'there is no such page',
  },
  {
    name: 'a link to a script',
    page: `${head()}[that](javascript:alert)\n`,
    line: bodyLine,
    says: 'is no link',
  },
  { name: 'a link to nothing', page: `${head()}[that]()\n`, line: bodyLine, says: 'neither' },
  {
    name: 'a closing tag too many',
    page: `${head()}Text.\n\n{% /hint %}\n`,
    line: bodyLine + 2,
    says: 'missing opening',
  },
  { name: 'a hint without text', page: `${head()}{% hint /%}\n`, line: bodyLine, says: 'holds nothing' },
  {
    name: 'a title that is no text',
    page: `${head()}{% hint title=5 %}\nText.\n{% /hint %}\n`,
    line: bodyLine,
    says: "Attribute 'title' must be type of 'String'",
  },
  {
    name: 'a level that is a text',
    page: `${head()}{% swagger spec="cloud" tag="service" level="2" /%}\n`,
    line: bodyLine,
    says: "Attribute 'level' must be type of 'Number'",
  },
  {
    name: 'text inside an operation',
    page: `${head()}{% swagger spec="cloud" tag="service" level=2 %}\nText.\n{% /swagger %}\n`,
    line: bodyLine,
    says: 'self-closing',
  },
  {
    name: 'a variable',
    page: `${head()}Text {% $name %}.\n`,
    line: bodyLine,
    says: 'name',
  },
  {
    name: 'a function',
    page: `${head()}Text {% shout("x") %}.\n`,
    line: bodyLine,
    says: 'shout',
  },
  {
    name: 'a tab without a label',
    page: `${head()}{% tabs group="a" %}\n{% tab %}\nA.\n{% /tab %}\n{% tab label="B" %}\nB.\n{% /tab %}\n{% /tabs %}\n`,
    line: bodyLine + 1,
    says: "Missing required attribute: 'label'",
  },
  {
    name: 'a tab outside of tabs',
    page: `${head()}{% tab label="A" %}\nText.\n{% /tab %}\n`,
    line: bodyLine,
    says: '"tab" stands in "tabs" only',
  },
  {
    name: 'tabs in a tab',
    page: `${head()}{% tabs group="a" %}\n{% tab label="A" %}\n{% tabs group="b" %}\n{% tab label="A" %}\nA.\n{% /tab %}\n{% tab label="B" %}\nB.\n{% /tab %}\n{% /tabs %}\n{% /tab %}\n{% tab label="B" %}\nB.\n{% /tab %}\n{% /tabs %}\n`,
    line: bodyLine + 2,
    says: '"tabs" cannot stand in "tab"',
  },
  {
    name: 'an operation in a hint',
    page: `${head()}{% hint %}\n{% swagger spec="cloud" tag="service" level=2 /%}\n{% /hint %}\n`,
    line: bodyLine + 1,
    says: '"swagger" cannot stand in "hint"',
  },
  {
    name: 'a release in a hint',
    page: `${head()}{% hint %}\n{% release version="1.0.0" title="One" date="2026-01-31" %}\nText.\n{% /release %}\n{% /hint %}\n`,
    line: bodyLine + 1,
    says: '"release" cannot stand in "hint"',
  },
  {
    name: 'a heading in a tab, where nobody may see it',
    page: `${head()}{% tabs group="a" %}\n{% tab label="A" %}\n## One\n{% /tab %}\n{% tab label="B" %}\nB.\n{% /tab %}\n{% /tabs %}\n`,
    line: bodyLine + 2,
    says: 'The heading "One" cannot stand in "tab"',
  },
  {
    name: 'a heading without a letter for an anchor',
    page: `${head()}## 日本\n`,
    line: bodyLine,
    says: 'has no letter that an anchor could be made of',
  },
  {
    name: 'a version that is none',
    page: `${head()}{% release version="1.0" title="One" date="2026-01-31" %}\nText.\n{% /release %}\n`,
    line: bodyLine,
    says: "Attribute 'version' must match",
  },
  {
    name: 'a release without a title',
    page: `${head()}{% release version="1.0.0" date="2026-01-31" %}\nText.\n{% /release %}\n`,
    line: bodyLine,
    says: "Missing required attribute: 'title'",
  },
  {
    name: 'a picture that is a folder',
    page: `${head()}{% image src="." alt="None" /%}\n`,
    line: bodyLine,
    says: '"." does not exist',
  },
  {
    name: 'a missing picture as Markdown has them',
    page: `${head()}Text\n![None](no.png)\n`,
    line: bodyLine + 1,
    says: '"no.png" does not exist',
  },
  {
    name: 'an attribute of a code reference that is none',
    page: `${head()}{% code-reference file="content/case-0/page.md" form="x" /%}\n`,
    line: bodyLine,
    says: "Invalid attribute: 'form'",
  },
  {
    name: 'a code reference without a file',
    page: `${head()}{% code-reference from="x" /%}\n`,
    line: bodyLine,
    says: "Missing required attribute: 'file'",
  },
  {
    name: 'a code reference to a folder',
    page: `${head()}{% code-reference file="content" /%}\n`,
    line: bodyLine,
    says: '"content" is not a file',
  },
  {
    name: 'front matter that does not end',
    page: '---\ntitle: A page\n\nText.\n',
    line: 1,
    says: 'front matter',
  },
  {
    name: 'a field given twice',
    page: head('label: Again\n'),
    line: 6,
    says: 'not valid YAML',
  },
  { name: 'front matter that is a list', page: '---\n- title\n---\n', line: 2, says: 'names with values' },
  {
    name: 'no intro',
    page: '---\ntitle: A page\nlabel: Page\nnavOrder: 10\n---\n',
    line: 2,
    says: 'lacks "intro"',
  },
  {
    name: 'an intro too short',
    page: head().replace('What this page is about, in one line.', 'Short.'),
    line: 3,
    says: 'must have 20 to 240 characters and has 6',
  },
  {
    name: 'a field that is none',
    page: head('color: red\n'),
    line: 6,
    says: '"color", which is not a field',
  },
  {
    name: 'a navOrder that is no number',
    page: head().replace('10', 'first'),
    line: 5,
    says: 'must be a whole number',
  },
  { name: 'front matter that is not YAML', page: '---\ntitle: [\n---\n', line: 2, says: 'not valid YAML' },
];

describe('a mistake in a page is reported with its file and line', () => {
  // Each page alone in a folder; all are read at once, because most of the time is the compiler's start.
  let found: string[];
  beforeAll(async () => {
    const files = cases.flatMap(({ page }, index) => [
      [`case-${index}/folder.yaml`, `label: Case ${index}\nnavOrder: ${index}\n`],
      [`case-${index}/page.md`, page],
    ]);
    found = await mistakes(Object.fromEntries(files));
  });

  test.for(cases.map((one, index) => ({ ...one, index })))('$name', ({ index, line, says }) => {
    const own = found.filter((mistake) => mistake.startsWith(`content/case-${index}/`));
    expect(own).toHaveLength(1);
    expect(own[0]).toContain(`content/case-${index}/page.md:${line}: `);
    expect(own[0]).toContain(says);
  });

  test('and in no other place', () => {
    expect(found).toHaveLength(cases.length);
  });
});
