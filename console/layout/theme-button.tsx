import { Icon } from '@switchyard/design/icon.tsx';
import { isDarkTheme, onThemeChange, toggleTheme } from '@switchyard/design/theme.ts';
import { useEffect, useState } from 'react';

/** Switches between light and dark. */
export function ThemeButton() {
  const [isDark, setDark] = useState(isDarkTheme);
  useEffect(() => onThemeChange(() => setDark(isDarkTheme())), []);
  return (
    <button
      type="button"
      className="icon-button"
      aria-label="Dark theme"
      aria-pressed={isDark}
      onClick={() => {
        toggleTheme();
        setDark(isDarkTheme());
      }}
    >
      <Icon name={isDark ? 'sun' : 'moon'} />
    </button>
  );
}
