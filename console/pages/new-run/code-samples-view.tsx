import { CopyButton } from '../../ui/copy-button.tsx';
import { formatCurl, formatPython, type SampleSource } from './code-samples.ts';
import styles from './new-run-page.module.css';

/** The request of the form as code that others can run. */
export function CodeSamples({ source }: { source: SampleSource }) {
  const samples = [
    { language: 'curl', text: formatCurl(source) },
    { language: 'Python', text: formatPython(source) },
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
              <code>{text}</code>
            </pre>
          </div>
        </details>
      ))}
    </section>
  );
}
