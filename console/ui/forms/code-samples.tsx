import { escapeProgram } from '../content/json-text.ts';
import { CopyButton } from '../copy-button.tsx';
import styles from './code-samples.module.css';

interface CodeSamplesProps {
  /** For `switchyard`; absent if no command sends the request. */
  command?: string | undefined;
  curl: string;
  python: string;
  /** For the published command line; absent if it has no command for the form. */
  publishedCommand?: string | undefined;
}

/** The request of the form as code that others can run: commands for a terminal, and a Python program. */
export function CodeSamples({ command, curl, python, publishedCommand }: CodeSamplesProps) {
  const samples = [
    ...(command === undefined ? [] : [{ language: 'CLI', text: command }]),
    { language: 'curl', text: curl },
    { language: 'Python', text: python },
    ...(publishedCommand === undefined ? [] : [{ language: 'nextmv CLI', text: publishedCommand }]),
  ];
  return (
    <section className={styles.samples} aria-label="This request as code">
      {samples.map(({ language, text }) => (
        <details key={language}>
          <summary>{language}</summary>
          <div className={styles.sample}>
            <CopyButton text={text} label={`Copy as ${language}`} />
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
            <pre tabIndex={0}>
              <code>{escapeProgram(text)}</code>
            </pre>
          </div>
        </details>
      ))}
    </section>
  );
}
