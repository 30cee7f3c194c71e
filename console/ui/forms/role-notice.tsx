import { hasRight, type Right } from '@switchyard/contract/roles.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { accountQuery } from '../../client/session.ts';
import styles from '../notice.module.css';
import { Notice } from '../notice.tsx';

interface RoleNoticeProps {
  /** The right without which the server refuses the form. */
  right: Right;
  /** What the form does, after `cannot`. */
  does: string;
}

/** Says above a form that the role of the person cannot send it; nothing to those who can. */
export function RoleNotice({ right, does }: RoleNoticeProps) {
  const { data } = useSuspenseQuery(accountQuery);
  if (hasRight(data.key.role, right)) return null;
  return (
    <div className={styles.before}>
      <Notice kind="info">
        Your role, {data.key.role}, cannot {does}. Ask an administrator of the account for one that can.
      </Notice>
    </div>
  );
}
