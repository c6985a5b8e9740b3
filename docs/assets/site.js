// What the theme's own script makes after the page has come: buttons that copy are landmarks with a name of their own,
// and what can be scrolled can be reached by the keyboard.
const named = () => {
  document.querySelectorAll("nav.md-code__nav").forEach((nav, number) => {
    nav.setAttribute("aria-label", `Code ${number + 1}`);
  });
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((each) => each.setAttribute("tabindex", "0"));
};
named();
new MutationObserver(named).observe(document.body, { childList: true, subtree: true });
