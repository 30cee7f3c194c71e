import { Icon } from '@switchyard/design/icon.tsx';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { accountQuery, signOut } from '../client/session.ts';
import styles from './account-menu.module.css';

/** Shows who is signed in, and signs out. */
export function AccountMenu() {
  const { data } = useQuery(accountQuery);
  const navigate = useNavigate();
  if (!data) return null;
  const { name, key } = data;
  return (
    <MenuTrigger>
      <AriaButton className="icon-button" aria-label={`Account ${name}`}>
        <Icon name="person" />
      </AriaButton>
      <Popover placement="bottom end" className={styles.popover ?? ''}>
        <p className={styles.who}>
          <strong>{name}</strong>
          <span>{key.user_email}</span>
          <span>
            {key.name} · {key.role}
          </span>
        </p>
        <Menu
          aria-label="Account"
          className={styles.menu ?? ''}
          onAction={async () => {
            await signOut();
            await navigate({ to: '/sign-in' });
          }}
        >
          <MenuItem id="sign-out" className={styles.item ?? ''}>
            Sign out
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
