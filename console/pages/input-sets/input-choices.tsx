import { useInfiniteQuery } from '@tanstack/react-query';
import { inputsQuery } from '../../client/inputs.ts';
import { LoadMore } from '../../ui/resources/load-more.tsx';
import styles from './input-sets-page.module.css';

interface Choice {
  id: string;
  name: string;
}

/** Check boxes of managed inputs. Those that are `listed` already come first, and may be other than managed inputs. */
export function InputChoices({
  application,
  listed = [],
  chosen,
  onChange,
}: {
  application: string;
  listed?: readonly Choice[];
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}) {
  const list = useInfiniteQuery(inputsQuery(application));
  const ids = new Set(listed.map(({ id }) => id));
  const managed = list.data?.pages.flatMap(({ items }) => items).filter(({ id }) => !ids.has(id)) ?? [];
  const choices: Choice[] = [...listed, ...managed];
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    onChange(next);
  };
  return (
    <fieldset className={styles.choices}>
      <legend>Inputs ({chosen.size})</legend>
      {choices.map(({ id, name }) => (
        <label key={id} className={styles.choice}>
          <input type="checkbox" checked={chosen.has(id)} onChange={() => toggle(id)} />
          <span>
            {name || id} {name !== '' && name !== id && <code className={styles.soft}>{id}</code>}
          </span>
        </label>
      ))}
      {list.isSuccess && choices.length === 0 && <p>The application has no managed input yet.</p>}
      <LoadMore list={list} />
    </fieldset>
  );
}
