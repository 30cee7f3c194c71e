import { Icon } from '@switchyard/design/icon.tsx';
import { isDarkTheme, onThemeChange, toggleTheme } from '@switchyard/design/theme.ts';
import { useEffect, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components';

/** Switches between light and dark. */
export function ThemeButton() {
  const [isDark, setDark] = useState(isDarkTheme);
  useEffect(() => onThemeChange(() => setDark(isDarkTheme())), []);
  return (
    <AriaButton
      className="icon-button"
      aria-label="Dark theme"
      aria-pressed={isDark}
      onPress={() => {
        toggleTheme();
        setDark(isDarkTheme());
      }}
    >
      <Icon name={isDark ? 'sun' : 'moon'} />
    </AriaButton>
  );
}
