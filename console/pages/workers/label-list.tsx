import styles from './workers-page.module.css';

/** Labels that a worker offers, or that the workers of a token may offer. */
export function LabelList({ labels }: { labels: readonly string[] }) {
  if (labels.length === 0) return 'none';
  return (
    <ul className={styles.labels} aria-label="Labels">
      {labels.map((label) => (
        <li key={label}>
          <code>{label}</code>
        </li>
      ))}
    </ul>
  );
}
