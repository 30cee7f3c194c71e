import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Button } from '../../../ui/button.tsx';
import styles from './menu.module.css';

/** A filter for one or several of a few values, which the address and the server separate by commas. */
export function ChoiceFilter({
  label,
  choices,
  value,
  onChange,
}: {
  label: string;
  choices: readonly string[];
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const chosen = value?.split(',') ?? [];
  const change = (keys: 'all' | Set<unknown>) => {
    const selected = choices.filter((choice) => keys === 'all' || keys.has(choice));
    onChange(selected.join(',') || undefined);
  };
  return (
    <MenuTrigger>
      <Button>
        <span className={styles.value}>
          {label}: {chosen.join(', ') || 'all'}
        </span>
      </Button>
      <Popover placement="bottom start" className={styles.popover ?? ''}>
        <Menu
          aria-label={label}
          selectionMode="multiple"
          selectedKeys={chosen}
          onSelectionChange={change}
          className={styles.menu ?? ''}
        >
          {choices.map((choice) => (
            <MenuItem key={choice} id={choice} className={styles.item ?? ''}>
              {choice}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
