# Completion of proofstream in fish, which `proofstream completion` prints. Made by `npm run generate`.

# Whether the commands before the cursor, each with a space behind it, are as the pattern says. An option before the command
# may have a value, which is none.
function __proofstream_at -a pattern
    set -l place ''
    set -l option ''
    for word in (commandline -opc)[2..-1]
        if test -n "$option"
            set option ''
        else if contains -- $word --server --token-file --output -o
            set option $word
        else if not string match -q -- '-*' $word
            set place "$place$word "
        end
    end
    string match -qr -- $pattern "$place"
end

