import { Icon, type IconName } from '@switchyard/design/icon.tsx';
import type { ReactNode } from 'react';
import styles from './answer.module.css';

/** A number that answers, with its unit and what it is compared with. */
export interface AnswerNumber {
  label: string;
  /** The number with its unit after a no-break space, as the formatters write it. */
  text: string;
  /** The whole value, on hover. */
  exact?: string | undefined;
  note?: ReactNode;
}

/** The answer of a page: up to five numbers between two lines. */
export function Answer({ numbers }: { numbers: readonly AnswerNumber[] }) {
  return (
    <dl className={styles.answer}>
      {numbers.map(({ label, text, exact, note }) => {
        const [value, unit] = splitUnit(text);
        return (
          <div key={label}>
            <dt>{label}</dt>
            <dd className={value.length > NUMBER_CHARS_MAX ? styles.words : styles.value} title={exact}>
              {value}
              {unit !== '' && <small> {unit}</small>}
            </dd>
            <dd>{note}</dd>
          </div>
        );
      })}
    </dl>
  );
}

/** A longer text is no numeral: it has the size of a sentence. */
const NUMBER_CHARS_MAX = 12;

/** Separates the last word of a text with one number; a text with two, such as `3 min 2 s`, stays whole. */
function splitUnit(text: string): [value: string, unit: string] {
  const [value = '', unit = '', ...more] = text.split(/[\s\u00a0]/);
  return more.length === 0 ? [value, unit] : [text, ''];
}

interface AnswerSentenceProps {
  icon: IconName;
  tone?: 'good' | 'bad' | 'soft';
  title: ReactNode;
  children?: ReactNode;
}

/** The answer of a page as a sentence, with what follows from it. A bad one is announced to screen readers. */
export function AnswerSentence({ icon, tone = 'soft', title, children }: AnswerSentenceProps) {
  return (
    <div className={`${styles.sentence} ${styles[tone]}`} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon name={icon} />
      <p className={styles.verdict}>
        <bdi>{title}</bdi>
      </p>
      {children && <div className={styles.follows}>{children}</div>}
    </div>
  );
}
