import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId } from 'react';
import { accountQuery, signOut } from '../client/session.ts';
import styles from './account-menu.module.css';

/**
 * Shows who is signed in, and signs out. The panel is a popover of the browser: a menu of React Aria with its only item
 * would be a seventh of the script of the first page.
 */
export function AccountMenu() {
  const { data } = useQuery(accountQuery);
  const navigate = useNavigate();
  const id = useId();
  if (!data) return null;
  const { name, key } = data;
  return (
    <>
      <button type="button" className={styles.avatar} aria-label={`Account ${name}`} popoverTarget={id}>
        {formatInitials(key.user_email || name)}
      </button>
      <div id={id} popover="auto" className={`popover ${styles.panel}`}>
        <p className={styles.who}>
          <strong>{name}</strong>
          <span>{key.user_email}</span>
          <span>
            {key.name} · {key.role}
          </span>
        </p>
        <button
          type="button"
          className={styles.item}
          onClick={async () => {
            await signOut();
            await navigate({ to: '/sign-in' });
          }}
        >
          Sign out
        </button>
      </div>
    </>
  );
}

/** Returns the first letters of at most two words before the at sign, such as `AK` for `anna.kovac@example.org`. */
function formatInitials(email: string): string {
  const words = email.split('@')[0]?.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words
    .slice(0, 2)
    .map((word) => [...word][0])
    .join('')
    .toUpperCase();
}
