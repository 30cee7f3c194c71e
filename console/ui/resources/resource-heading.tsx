import { CopyButton } from '../copy-button.tsx';
import styles from './resource-heading.module.css';

/** The id of a resource with a button that copies it, and its description below. */
export function ResourceHeading({
  id,
  noun,
  description,
}: {
  id: string;
  /** Names the resource, such as `input`. */
  noun: string;
  description: string;
}) {
  return (
    <>
      <code>{id}</code> <CopyButton text={id} label={`Copy ${noun} id`} />
      {description !== '' && <span className={styles.description}>{description}</span>}
    </>
  );
}
