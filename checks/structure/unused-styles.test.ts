/** The law of style sheets finds unused classes, and accepts used ones. */
import { expect, test } from 'vitest';
import { unusedStyles } from './unused-styles.ts';

const find = (css: string, component: string) =>
  unusedStyles
    .findViolations([
      { path: 'console/ui/a.module.css', text: css },
      { path: 'console/ui/a.tsx', text: `import styles from './a.module.css';\n${component}` },
    ])
    .map(({ line, message }) => `${line} ${message}`);

test('a class that no component uses is found with its line', () => {
  expect(find('.a {\n}\n\n.b:hover {\n}\n', 'f(styles.a);')).toEqual([
    '4 has the class .b, which no component uses: delete it.',
  ]);
});

test('a key that the code computes names its classes', () => {
  expect(find('.a {\n}\n.b {\n}\n', "const key = isBad ? 'a' : 'c'; f(styles[key]);")).toHaveLength(1);
});

test('classes of other style sheets, numbers and addresses are no classes of this one', () => {
  expect(find('.a :global(.meta) {\n  gap: .5rem;\n  background: url(b.svg);\n}\n', 'f(styles.a);')).toEqual(
    [],
  );
});
