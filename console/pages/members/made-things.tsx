import {
  formatInventoryKind,
  INVENTORY_KINDS,
  type InventoryKind,
  isRetainedByDefault,
  type MemberInventory,
  RETAINED_KINDS,
} from '@switchyard/contract/account/inventory.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import styles from './members-page.module.css';

interface Props {
  inventory: MemberInventory;
  /** The kinds that the change revokes unless they are retained. */
  kinds?: readonly InventoryKind[];
  /** The kinds that stay. */
  retained: readonly InventoryKind[];
  onRetain: (retained: InventoryKind[]) => void;
}

/** Returns what a request sends for the kinds that stay, of those that it could revoke. */
export function splitChoice(
  retained: readonly InventoryKind[],
  kinds: readonly InventoryKind[] = INVENTORY_KINDS,
) {
  return {
    keep: kinds.filter((kind) => retained.includes(kind) && !isRetainedByDefault(kind)),
    revoke: RETAINED_KINDS.filter((kind) => kinds.includes(kind) && !retained.includes(kind)),
  };
}

/** Lists what a member made and what works without them, with a choice for each kind. Shows nothing without any. */
export function MadeThings({ inventory, kinds = INVENTORY_KINDS, retained, onRetain }: Props) {
  const { items, counts } = inventory;
  const kindsWithItems = kinds.filter((kind) => counts[kind] > 0);
  if (kindsWithItems.length === 0) return null;
  const toggle = (kind: InventoryKind) =>
    onRetain(retained.includes(kind) ? retained.filter((one) => one !== kind) : [...retained, kind]);
  return (
    <fieldset className={styles.made}>
      <legend>Also revoke what the member made</legend>
      {kindsWithItems.map((kind) => (
        <div key={kind}>
          <label>
            <input type="checkbox" checked={!retained.includes(kind)} onChange={() => toggle(kind)} />{' '}
            {formatInventoryKind(kind, counts[kind])}
            {isRetainedByDefault(kind) && ', who then need a new invite'}
          </label>
          <ul>
            {items
              .filter((item) => item.kind === kind)
              .map(({ id, name, detail, expires_at }) => (
                <li key={id}>
                  <bdi>{name}</bdi>: <bdi>{detail}</bdi>
                  {expires_at !== undefined && (
                    <>
                      , ends <RelativeTime at={expires_at} />
                    </>
                  )}
                </li>
              ))}
          </ul>
        </div>
      ))}
    </fieldset>
  );
}
