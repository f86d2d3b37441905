#!/bin/sh
# install.sh STAGE ROOT LIST: copies everything under STAGE to the same place under ROOT, and writes to
# ROOT/LIST what it made there, directories too. What an earlier install has left is removed first.
# install.sh --remove ROOT LIST: removes what LIST names and nothing else. `make install` and `make uninstall`
# call this; ROOT is DESTDIR, or empty.
set -eu

# Files go; a directory that install made goes when nothing else has come into it.
remove() { # remove ROOT LIST
    [ -f "$1/$2" ] || return 1
    sed -n 's/^f //p' "$1/$2" | while IFS= read -r path; do rm -f "$1/$path"; done
    sed -n 's/^d //p' "$1/$2" | sort -r | while IFS= read -r path; do rmdir "$1/$path" 2>/dev/null || :; done
    rm -f "$1/$2"
    rmdir "$(dirname "$1/$2")" 2>/dev/null || :
}

if [ "$1" = --remove ]; then
    remove "$2" "$3" || {
        echo "install: nothing to remove: there is no $2/$3 (what was installed with another PREFIX or DESTDIR, needs the same again)" >&2
        exit 1
    }
    exit 0
fi
stage=$1
root=$2
list=$3
remove "$root" "$list" || :
made=$stage.made
: >"$made"
(cd "$stage" && find . -type d ! -name . | sed 's,^\./,,' | sort) | while IFS= read -r path; do
    [ -d "$root/$path" ] || {
        mkdir -p "$root/$path"
        echo "d $path" >>"$made"
    }
done
(cd "$stage" && find . ! -type d | sed 's,^\./,,' | sort) | while IFS= read -r path; do
    rm -f "$root/$path"
    cp -P "$stage/$path" "$root/$path"
    echo "f $path" >>"$made"
done
cp "$made" "$root/$list"
rm -f "$made"
