"""Sentences of Django and allauth that our pages show: these are their words, our `.po` files say them in our way.

Theirs say usted where we say tú, and write months with a capital in Portuguese. Ours is the first application, so what it
translates holds. Nothing imports this; it stands here for `gymnasia.words` to find.
"""

from django.utils.translation import gettext_noop, ngettext_lazy

THEIRS = (
    gettext_noop("Forgot your password?"),
    gettext_noop("Please type your current password."),
    gettext_noop("Too many failed login attempts. Try again later."),
    gettext_noop("Username can not be used. Please use other username."),
    gettext_noop("You cannot remove your primary email address."),
    gettext_noop("Your primary email address must be verified."),
    gettext_noop("Your password can’t be too similar to your other personal information."),
    gettext_noop("Your password can’t be a commonly used password."),
    gettext_noop("Your password can’t be entirely numeric."),
    ngettext_lazy(
        "Your password must contain at least %(min_length)d character.",
        "Your password must contain at least %(min_length)d characters.",
    ),
)

MONTHS = (
    gettext_noop("January"),
    gettext_noop("February"),
    gettext_noop("March"),
    gettext_noop("April"),
    gettext_noop("May"),
    gettext_noop("June"),
    gettext_noop("July"),
    gettext_noop("August"),
    gettext_noop("September"),
    gettext_noop("October"),
    gettext_noop("November"),
    gettext_noop("December"),
)
