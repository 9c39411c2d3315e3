// unfold remembers a theme of its own in the browser; the site's choice (a cookie, sent as a class) rules instead.
{
  const classes = document.documentElement.classList;
  const theme = classes.contains("dark") ? "dark" : classes.contains("light") ? "light" : "auto";
  try {
    localStorage.setItem("adminTheme", JSON.stringify(theme));
  } catch {
    // Storage is off: unfold then takes the class as it is.
  }
}
